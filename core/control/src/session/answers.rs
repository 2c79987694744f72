//! Multipart replies. Each part must belong to an open request. OpenFlow 1.3.5 §7.3.5.

use std::collections::VecDeque;

use braid_openflow::{EncodeError, Message, MultipartFlags, MultipartReply, MultipartType, RequestBody, Xid};

use super::{SessionError, SessionLimits};

/// The unanswered requests, oldest first.
#[derive(Debug)]
pub(super) struct Answers {
    limits: SessionLimits,
    open: VecDeque<Answer>,
}

/// A reply whose last part has not arrived.
#[derive(Debug)]
struct Answer {
    xid: Xid,
    kind: MultipartType,
    reader: Reader,
    /// The size of the parts so far.
    bytes: usize,
}

/// Who has asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reader {
    /// The session or the brain, which need the reply. A switch whose reply is too long is disconnected.
    Controller,
    /// Somebody who wants to see it. The rest of a reply that is too long is ignored.
    Observer,
}

/// The place of a part in a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The request is unknown, or its reply is complete.
    Unasked,
    /// It belongs to a request.
    Of {
        /// Who has asked.
        reader: Reader,
        /// Whether the reply is complete.
        is_last: bool,
    },
}

impl Answers {
    pub(super) const fn new(limits: SessionLimits) -> Self {
        Self { limits, open: VecDeque::new() }
    }

    /// Sends a request and expects its reply.
    pub(super) fn ask(
        &mut self,
        xid: Xid,
        body: RequestBody<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.expect(xid, body.multipart_type(), Reader::Controller);
        Message::MultipartRequest(body.into()).encode(xid, out)
    }

    /// Expects the reply to a request that was sent.
    pub(super) fn expect(&mut self, xid: Xid, kind: MultipartType, reader: Reader) {
        if self.open.len() >= self.limits.requests {
            self.open.pop_front();
        }
        self.open.push_back(Answer { xid, kind, reader, bytes: 0 });
    }

    /// Records a part whose message has `length` bytes.
    ///
    /// Errors: the reply is too long, and the controller needs it.
    pub(super) fn take(
        &mut self,
        xid: Xid,
        reply: &MultipartReply<'_>,
        length: usize,
    ) -> Result<Part, SessionError> {
        let kind = reply.body.multipart_type();
        let is_answered = |answer: &Answer| (answer.xid, answer.kind) == (xid, kind);
        let Some(index) = self.open.iter().position(is_answered) else { return Ok(Part::Unasked) };
        let reader = self.open.get(index).map_or(Reader::Controller, |answer| answer.reader);
        if !reply.flags.contains(MultipartFlags::MORE) {
            self.open.remove(index);
            return Ok(Part::Of { reader, is_last: true });
        }
        let limit = self.limits.answer_bytes(kind);
        let bytes = self.open.get_mut(index).map_or(0, |answer| answer.grow(length));
        match reader {
            _ if bytes <= limit => Ok(Part::Of { reader, is_last: false }),
            Reader::Controller => Err(SessionError::LongAnswer { kind, bytes, limit }),
            Reader::Observer => {
                self.open.remove(index);
                Ok(Part::Unasked)
            }
        }
    }
}

impl Answer {
    fn grow(&mut self, length: usize) -> usize {
        self.bytes = self.bytes.saturating_add(length);
        self.bytes
    }
}
