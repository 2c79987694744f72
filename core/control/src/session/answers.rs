//! Multipart answers, of which each part must be one that was asked for. OpenFlow 1.3.5 §7.3.5.

use std::collections::VecDeque;

use braid_openflow::{EncodeError, Message, MultipartFlags, MultipartReply, MultipartType, RequestBody, Xid};

use super::{SessionError, SessionLimits};

/// The requests that wait for their answers, the oldest first.
#[derive(Debug)]
pub(super) struct Answers {
    limits: SessionLimits,
    open: VecDeque<Answer>,
}

/// An answer of which the last part has not come.
#[derive(Debug)]
struct Answer {
    xid: Xid,
    kind: MultipartType,
    /// Of the parts so far.
    bytes: usize,
}

/// What a part of an answer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Nobody has asked for it, or its answer is over.
    Unasked,
    /// Others follow.
    More,
    /// The answer is over.
    Last,
}

impl Answers {
    pub(super) const fn new(limits: SessionLimits) -> Self {
        Self { limits, open: VecDeque::new() }
    }

    /// Sends a request, and waits for its answer.
    pub(super) fn ask(
        &mut self,
        xid: Xid,
        body: RequestBody<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.expect(xid, body.multipart_type());
        Message::MultipartRequest(body.into()).encode(xid, out)
    }

    /// A request of this kind was sent.
    pub(super) fn expect(&mut self, xid: Xid, kind: MultipartType) {
        if self.open.len() >= self.limits.requests {
            self.open.pop_front();
        }
        self.open.push_back(Answer { xid, kind, bytes: 0 });
    }

    /// Takes note of a part, whose message has this many bytes.
    ///
    /// Errors: the answer is too long.
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
