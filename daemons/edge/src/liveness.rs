//! Whether a controller's connection is alive: it says HELLO in time, and answers echo requests.

use std::time::Duration;

use braid_types::Time;

/// The time from the connection, or from the attempt, to the first message.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// A controller that is silent for so long gets an echo request.
const ECHO_AFTER: Duration = Duration::from_secs(4);
/// A controller that is silent for so long is gone.
const DEAD_AFTER: Duration = Duration::from_secs(9);

/// When a controller was last heard of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Liveness {
    opened_at: Time,
    heard_at: Option<Time>,
    has_asked: bool,
}

/// What is to be done about a connection now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Nothing,
    SendEcho,
    Close(&'static str),
}

impl Liveness {
    pub(crate) const fn open(now: Time) -> Self {
        Self { opened_at: now, heard_at: None, has_asked: false }
    }

    /// Whether a whole message has come.
    pub(crate) const fn has_greeted(&self) -> bool {
        self.heard_at.is_some()
    }

    /// A whole message has come.
    pub(crate) const fn handle_message(&mut self, now: Time) {
        (self.heard_at, self.has_asked) = (Some(now), false);
    }

    /// Called about once a second.
    pub(crate) fn handle_timeout(&mut self, now: Time) -> Step {
        let Some(heard_at) = self.heard_at else {
            let is_late = now.since(self.opened_at) >= HELLO_TIMEOUT;
            return if is_late { Step::Close("no HELLO within 5 s") } else { Step::Nothing };
        };
        match now.since(heard_at) {
            silence if silence >= DEAD_AFTER => Step::Close("silent for 9 s"),
            silence if silence >= ECHO_AFTER && !self.has_asked => {
                self.has_asked = true;
                Step::SendEcho
            }
            _ => Step::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_peer_that_says_nothing_is_closed() {
        let mut peer = Liveness::open(at(100));
        assert_eq!(peer.handle_timeout(at(104)), Step::Nothing);
        assert!(matches!(peer.handle_timeout(at(105)), Step::Close(_)));
    }

    #[test]
    fn a_silent_controller_is_asked_once_and_then_closed() {
        let mut peer = Liveness::open(at(0));
        peer.handle_message(at(1));
        let steps: Vec<_> = (2..10).map(|now| peer.handle_timeout(at(now))).collect();
        assert_eq!(steps.iter().filter(|step| **step == Step::SendEcho).count(), 1);
        assert!(matches!(peer.handle_timeout(at(10)), Step::Close(_)));
    }

    #[test]
    fn a_controller_that_answers_stays() {
        let mut peer = Liveness::open(at(0));
        peer.handle_message(at(0));
        for now in 1..100 {
            match peer.handle_timeout(at(now)) {
                Step::SendEcho => peer.handle_message(at(now)),
                step => assert_eq!(step, Step::Nothing),
            }
        }
    }
}
