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
    /// The size of the parts so far.
    bytes: usize,
}

/// The place of a part in a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The request is unknown, or its reply is complete.
    Unasked,
    /// More parts follow.
    More,
    /// The reply is complete.
    Last,
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
        self.expect(xid, body.multipart_type());
        Message::MultipartRequest(body.into()).encode(xid, out)
    }

    /// Expects the reply to a request that was sent.
    pub(super) fn expect(&mut self, xid: Xid, kind: MultipartType) {
        if self.open.len() >= self.limits.requests {
            self.open.pop_front();
        }
        self.open.push_back(Answer { xid, kind, bytes: 0 });
    }

    /// Records a part whose message has `length` bytes.
    ///
    /// Errors: the reply is too long.
    pub(super) fn take(
        &mut self,
        xid: Xid,
        reply: &MultipartReply<'_>,
        length: usize,
    ) -> Result<Part, SessionError> {
        let kind = reply.body.multipart_type();
        let is_answered = |answer: &Answer| (answer.xid, answer.kind) == (xid, kind);
        let Some(index) = self.open.iter().position(is_answered) else { return Ok(Part::Unasked) };
        if !reply.flags.contains(MultipartFlags::MORE) {
            self.open.remove(index);
            return Ok(Part::Last);
        }
        let limit = self.limits.answer_bytes(kind);
        let bytes = self.open.get_mut(index).map_or(0, |answer| answer.grow(length));
        if bytes > limit { Err(SessionError::LongAnswer { kind, bytes, limit }) } else { Ok(Part::More) }
    }
}

impl Answer {
    fn grow(&mut self, length: usize) -> usize {
        self.bytes = self.bytes.saturating_add(length);
        self.bytes
    }
}
