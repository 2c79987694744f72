//! What has become of a subflow, for those who watch the agent.

use braid_api::SubflowEnds;
use braid_subflows::Verdict;
use serde::Serialize;

use crate::pm::Token;

/// Who is told of trials.
pub type Observer = Box<dyn Fn(&Notice) + Send>;

/// The result of a trial.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Notice {
    /// `suspended`, `kept`, `still-suspended` or `resumed`.
    pub event: &'static str,
    /// The connection.
    pub token: Token,
    /// The subflow.
    #[serde(flatten)]
    pub ends: SubflowEnds,
    /// Why it was tried first.
    pub cause: String,
    /// The connection's rate with it.
    pub with_bps: u64,
    /// The connection's rate without it.
    pub without_bps: u64,
}

impl Notice {
    pub(super) fn new(token: Token, verdict: &Verdict<SubflowEnds>) -> Self {
        Self {
            event: verdict.outcome.name(),
            token,
            ends: verdict.subflow,
            cause: verdict.suspicion.to_string(),
            with_bps: verdict.with.0,
            without_bps: verdict.without.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use braid_subflows::{Outcome, Suspicion};
    use braid_types::BitsPerSec;

    use super::*;

    #[test]
    fn notice_is_one_object_of_json() {
        let verdict = Verdict {
            subflow: SubflowEnds { local: ([10, 0, 0, 1], 1).into(), remote: ([10, 0, 0, 2], 2).into() },
            outcome: Outcome::StillSuspended,
            suspicion: Suspicion::Loss,
            with: BitsPerSec(10),
            without: BitsPerSec(20),
        };
        let json = r#"{"event":"still-suspended","token":"0x00000007","local":"10.0.0.1:1","remote":"10.0.0.2:2","cause":"it loses more","with_bps":10,"without_bps":20}"#;
        assert_eq!(serde_json::to_string(&Notice::new(Token(7), &verdict)).unwrap(), json);
    }
}
