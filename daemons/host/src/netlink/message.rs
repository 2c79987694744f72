//! Netlink messages to and from the kernel.

use std::io;

use netlink_packet_core::{
    Emitable, ErrorBuffer, NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_CAPPED, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_ALIGNTO,
    NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer, NetlinkHeader, parse_u32,
};
use netlink_packet_generic::GenlHeader;
use netlink_packet_generic::constants::GENL_HDRLEN;

use super::{Attributes, Writer};

/// The attribute with the kernel's error text. linux/netlink.h
const NLMSGERR_ATTR_MSG: u16 = 1;

/// A request to a family of generic netlink.
#[derive(Clone, Debug)]
pub struct Request {
    /// The family's id.
    pub family: u16,
    /// The command.
    pub command: u8,
    /// The family's version.
    pub version: u8,
    /// Whether the request is a dump of all objects.
    pub all: bool,
    /// The content.
    pub attributes: Writer,
}

impl Request {
    /// The whole message with this sequence number.
    #[must_use]
    pub fn encode(&self, sequence: u32) -> Vec<u8> {
        let header = GenlHeader { cmd: self.command, version: self.version };
        let mut payload = encoded(&header);
        payload.extend(self.attributes.as_bytes());
        encode(self.family, self.all, sequence, &payload)
    }
}

/// A request: a dump (`all`), or one with an acknowledgement.
pub(super) fn encode(kind: u16, all: bool, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.length = u32::try_from(header.buffer_len() + payload.len()).unwrap_or(u32::MAX);
    header.message_type = kind;
    header.flags = NLM_F_REQUEST | if all { NLM_F_DUMP } else { NLM_F_ACK };
    header.sequence_number = sequence;
    let mut message = encoded(&header);
    message.extend(payload);
    message
}

fn encoded(part: &impl Emitable) -> Vec<u8> {
    let mut bytes = vec![0; part.buffer_len()];
    part.emit(&mut bytes);
    bytes
}

/// A message from the kernel.
#[derive(Debug)]
pub struct Message<'a> {
    /// The sequence number of the request that it answers.
    pub sequence: u32,
    /// The content.
    pub body: Body<'a>,
}

/// The content of a message from the kernel.
#[derive(Debug)]
pub enum Body<'a> {
    /// The end of a reply: the request succeeded.
    Done,
    /// The request failed, with the kernel's error text if it gave one.
    Refused(io::Error, Option<&'a str>),
    /// Any other message.
    Data {
        /// The message type: in generic netlink, the family's id.
        kind: u16,
        /// The content.
        payload: &'a [u8],
    },
}

/// The messages of a datagram, up to the first truncated one.
#[derive(Clone, Debug)]
pub struct Messages<'a>(pub &'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let message = NetlinkBuffer::new_checked(self.0).ok()?;
        let next =
            usize::try_from(message.length()).ok()?.checked_next_multiple_of(usize::from(NLMSG_ALIGNTO));
        self.0 = next.and_then(|next| self.0.get(next..)).unwrap_or_default();
        let body = body(message.message_type(), message.flags(), message.payload());
        Some(Message { sequence: message.sequence_number(), body })
    }
}

fn body(kind: u16, flags: u16, payload: &[u8]) -> Body<'_> {
    match kind {
        // The end of a dump may carry an error code; it is short without one.
        NLMSG_DONE | NLMSG_ERROR => match ErrorBuffer::new_checked(payload).ok().and_then(|it| it.code()) {
            None => Body::Done,
            Some(error) => {
                let error = io::Error::from_raw_os_error(error.get().saturating_neg());
                Body::Refused(error, reason(kind, flags, payload))
            }
        },
        kind => Body::Data { kind, payload },
    }
}

/// The command and the attributes of a generic netlink payload.
#[must_use]
pub fn generic(payload: &[u8]) -> Option<(u8, Attributes<'_>)> {
    let header = GenlHeader::parse(payload).ok()?;
    Some((header.cmd, Attributes(payload.get(GENL_HDRLEN..)?)))
}

/// The kernel's error text, after the quoted request.
fn reason(kind: u16, flags: u16, payload: &[u8]) -> Option<&str> {
    if kind != NLMSG_ERROR || flags & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let request = ErrorBuffer::new_checked(payload).ok()?.payload();
    let quoted = match flags & NLM_F_CAPPED {
        0 => usize::try_from(parse_u32(request.get(..4)?).ok()?).ok()?,
        _ => NetlinkHeader::default().buffer_len(),
    };
    let attributes = request.get(quoted.checked_next_multiple_of(usize::from(NLMSG_ALIGNTO))?..)?;
    Attributes(attributes).find(NLMSGERR_ATTR_MSG)?.text()
}
