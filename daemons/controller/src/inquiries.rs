use std::collections::BTreeMap;

use braid_control::{Answer, Asker, Question};
use braid_steering::{Advice, AdviceRefusal, AdviceRequest};
use tokio::sync::oneshot;

/// Somebody wants to know which subflows a connection shall have.
pub(crate) struct Inquiry {
    pub(crate) request: AdviceRequest,
    pub(crate) asker: Asker,
    pub(crate) answer: oneshot::Sender<Result<Advice, AdviceRefusal>>,
}

/// Those who wait for advice. The brain answers each of them once, soon.
#[derive(Default)]
pub(crate) struct Inquiries {
    last: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Result<Advice, AdviceRefusal>>>,
}

impl Inquiries {
    /// What the brain is to be asked.
    pub(crate) fn take_up(&mut self, inquiry: Inquiry) -> Question {
        self.last += 1;
        self.waiting.insert(self.last, inquiry.answer);
        Question { id: self.last, request: inquiry.request, asker: inquiry.asker }
    }

    /// Passes an answer on to who waits for it.
    pub(crate) fn answer(&mut self, answer: &Answer) {
        if let Some(waiting) = self.waiting.remove(&answer.id) {
            // Who asked may have gone.
            let _ = waiting.send(answer.advice.clone());
        }
    }
}
