//! Whether this member leads, and who else does: written by the engine's thread, read at each API request.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The member as its API sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Standing {
    /// Its name.
    pub(crate) member: String,
    pub(crate) leads: bool,
    /// The member that leads, if it is another one and known.
    pub(crate) leader: Option<LeaderApi>,
    /// When this member led last; `None` if it never has, or leads.
    pub(crate) led_until: Option<Instant>,
}

/// A leader, and where its API is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LeaderApi {
    pub(crate) name: String,
    /// `http://HOST:PORT` or `https://HOST:PORT`; `None` if no other machine reaches it.
    pub(crate) url: Option<String>,
}

/// The standing, shared by two threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedStanding(Arc<RwLock<Standing>>);

impl Standing {
    /// How old what this member knows of the network is; `None` if it has never led.
    pub(crate) fn age(&self) -> Option<Duration> {
        if self.leads { Some(Duration::ZERO) } else { self.led_until.map(|at| at.elapsed()) }
    }
}

impl SharedStanding {
    pub(crate) fn read(&self) -> Standing {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes who leads now.
    pub(super) fn note(&self, leads: bool, leader: Option<LeaderApi>) {
        let before = self.read();
        if (before.leads, &before.leader) == (leads, &leader) {
            return;
        }
        let led_until = if before.leads && !leads { Some(Instant::now()) } else { before.led_until };
        let led_until = led_until.filter(|_| !leads);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) =
            Standing { member: before.member, leads, leader, led_until };
    }

    pub(super) fn name(&self, member: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).member = member.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_never_led_knows_nothing_and_one_that_did_knows_since_when() {
        let standing = SharedStanding::default();
        assert_eq!(standing.read().age(), None);
        standing.note(true, None);
        assert_eq!(standing.read().age(), Some(Duration::ZERO));
        let leader = Some(LeaderApi { name: "b".to_owned(), url: None });
        standing.note(false, leader.clone());
        assert!(standing.read().age().is_some());
        assert_eq!(standing.read().leader, leader);
    }
}
