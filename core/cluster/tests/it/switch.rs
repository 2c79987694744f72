//! A model of a switch's roles. OpenFlow 1.3.5 §6.3.6.

use braid_types::Term;

/// A connection: the number of a member, and of the run of its process.
pub(crate) type Connection = (usize, u32);

#[derive(Debug, Default)]
pub(crate) struct Switch {
    newest: Option<Term>,
    pub(crate) master: Option<Connection>,
    pub(crate) accepted: u64,
}

/// What a controller sends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Claim(Term),
    Write(Term),
    /// Asks for a sign of life, as anybody may.
    Probe,
}

/// What the switch answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    Master(Term),
    /// Stale, or slave: the newest term.
    Refused(Term),
    Alive,
}

impl Switch {
    pub(crate) fn handle(&mut self, from: Connection, order: Order) -> Option<Reply> {
        match order {
            Order::Probe => Some(Reply::Alive),
            Order::Claim(term) => {
                if let Some(newest) = self.newest.filter(|newest| newest.is_newer_than(term)) {
                    return Some(Reply::Refused(newest));
                }
                (self.newest, self.master) = (Some(term), Some(from));
                Some(Reply::Master(term))
            }
            Order::Write(term) if self.master == Some(from) => {
                let newest = self.newest.expect("a master has a term");
                assert!(!newest.is_newer_than(term), "{from:?} wrote in {term} after {newest} was seen");
                self.accepted += 1;
                None
            }
            Order::Write(_) => self.newest.map(Reply::Refused),
        }
    }

    pub(crate) const fn newest(&self) -> Option<Term> {
        self.newest
    }
}
