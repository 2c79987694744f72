use std::io;

use super::{Attributes, Writer};

const HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_DUMP: u16 = 0x300;
const NLM_F_CAPPED: u16 = 0x100;
const NLM_F_ACK_TLVS: u16 = 0x200;
const NLMSGERR_ATTR_MSG: u16 = 1;

/// A question or an order to a family of generic netlink.
#[derive(Clone, Debug)]
pub struct Request {
    /// The family's number.
    pub family: u16,
    /// Which of the family's commands.
    pub command: u8,
    /// The family's version.
    pub version: u8,
    /// Whether all there are of something are asked for.
    pub all: bool,
    /// What it says.
    pub attributes: Writer,
}

impl Request {
    /// The whole message, numbered `sequence`.
    #[must_use]
    pub fn encode(&self, sequence: u32) -> Vec<u8> {
        let header = [self.command, self.version, 0, 0];
        encode(self.family, self.all, sequence, &[&header, self.attributes.as_bytes()].concat())
    }
}

/// A request of any kind: for `all` there are of something, or for one thing, confirmed.
pub(super) fn encode(kind: u16, all: bool, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + payload.len()).unwrap_or(u32::MAX);
    let answer = if all { NLM_F_DUMP } else { NLM_F_ACK };
    let mut message = Vec::with_capacity(HEADER + payload.len());
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST | answer).to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    message.extend([0; 4]);
    message.extend(payload);
    message
}

/// A message from the kernel.
#[derive(Debug)]
pub struct Message<'a> {
    /// The number of the request that it answers.
    pub sequence: u32,
    /// What it says.
    pub body: Body<'a>,
}

/// What a message from the kernel says.
#[derive(Debug)]
pub enum Body<'a> {
    /// All there is to say was said: a request was carried out.
    Done,
    /// A request was not carried out; the kernel may have said why.
    Refused(io::Error, Option<&'a str>),
    /// Something else.
    Data {
        /// What it is: in generic netlink, the family's number.
        kind: u16,
        /// What it says.
        payload: &'a [u8],
    },
}

/// The messages of a datagram, up to the first that is cut off.
#[derive(Clone, Debug)]
pub struct Messages<'a>(pub &'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let length = usize::try_from(u32_at(self.0, 0)?).ok()?;
        let (kind, flags) = (u16_at(self.0, 4)?, u16_at(self.0, 6)?);
        let sequence = u32_at(self.0, 8)?;
        let payload = self.0.get(HEADER..length)?;
        self.0 = length.checked_next_multiple_of(4).and_then(|end| self.0.get(end..)).unwrap_or_default();
        Some(Message { sequence, body: body(kind, flags, payload)? })
    }
}

fn body(kind: u16, flags: u16, payload: &[u8]) -> Option<Body<'_>> {
    match kind {
        // The end of a list may tell of an error, too.
        NLMSG_DONE | NLMSG_ERROR => match u32_at(payload, 0).unwrap_or(0).cast_signed() {
            0 => Some(Body::Done),
            error => {
                let error = io::Error::from_raw_os_error(error.saturating_neg());
                Some(Body::Refused(error, reason(kind, flags, payload)))
            }
        },
        kind => Some(Body::Data { kind, payload }),
    }
}

/// The command and the attributes in a payload of generic netlink.
#[must_use]
pub fn generic(payload: &[u8]) -> Option<(u8, Attributes<'_>)> {
    Some((*payload.first()?, Attributes(payload.get(GENERIC_HEADER..)?)))
}

/// The kernel's own words, which come after the request that it quotes.
fn reason(kind: u16, flags: u16, payload: &[u8]) -> Option<&str> {
    if kind != NLMSG_ERROR || flags & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let quoted =
        if flags & NLM_F_CAPPED != 0 { HEADER } else { usize::try_from(u32_at(payload, 4)?).ok()? };
    let attributes = payload.get(quoted.checked_next_multiple_of(4)?.checked_add(4)?..)?;
    Attributes(attributes).find(NLMSGERR_ATTR_MSG)?.text()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}
