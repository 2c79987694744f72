//! Multipart replies: records in as few parts as their lengths allow.

use braid_openflow::{Bytes, Experimenter, Message, MultipartFlags, MultipartReply, ReplyBody, Xid};

/// The greatest number of bytes of a part, well below the 64 KiB of a message.
const MAX_PART: usize = 32 << 10;

/// The parts of a reply.
pub(crate) struct Replies {
    xid: Xid,
    bytes: Vec<u8>,
}

impl Replies {
    pub(super) const fn new(xid: Xid) -> Self {
        Self { xid, bytes: Vec::new() }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn last(&mut self, body: ReplyBody<'_>) {
        self.part(MultipartFlags::NONE, body);
    }

    pub(super) fn part(&mut self, flags: MultipartFlags, body: ReplyBody<'_>) {
        let message = Message::MultipartReply(MultipartReply { flags, body });
        let _ = message.encode(self.xid, &mut self.bytes);
    }

    /// The answer to an experimenter's request, whole records in each part.
    pub(super) fn records(&mut self, records: &[Vec<u8>], request: Experimenter<'_>) {
        let mut part = Vec::new();
        for record in records {
            if part.len() + record.len() > MAX_PART && !part.is_empty() {
                self.part(MultipartFlags::MORE, of_experimenter(request, &part));
                part.clear();
            }
            part.extend_from_slice(record);
        }
        self.last(of_experimenter(request, &part));
    }

    /// `items` in as few parts as their `size`s allow, at least one.
    pub(crate) fn list<'a, T>(
        &mut self,
        items: &'a [T],
        size: impl Fn(usize) -> usize,
        body: impl Fn(&'a [T]) -> ReplyBody<'a>,
    ) {
        let (mut start, mut bytes) = (0, 0);
        for index in 0..items.len() {
            let own = size(index);
            if bytes + own > MAX_PART && index > start {
                self.part(MultipartFlags::MORE, body(&items[start..index]));
                (start, bytes) = (index, 0);
            }
            bytes += own;
        }
        self.last(body(&items[start..]));
    }
}

const fn of_experimenter<'a>(request: Experimenter<'_>, data: &'a [u8]) -> ReplyBody<'a> {
    ReplyBody::Experimenter(Experimenter {
        experimenter: request.experimenter,
        exp_type: request.exp_type,
        data: Bytes(data),
    })
}
