//! The term in which this controller claims the role of master of all switches.

use braid_cluster::TermStamp;
use braid_types::Term;

/// The term of the whole controller, and the newest one that any switch has reported.
///
/// A controller that starts takes over: until a switch has accepted its term, it raises the term above those that switches
/// report. From then on, a switch with a newer term has a newer controller, and keeps it.
#[derive(Debug)]
pub(crate) struct Mastership {
    /// `None` while another member of the cluster leads.
    term: Option<Term>,
    newest: Term,
    /// What the terms of the cluster that gives them have in common.
    stamp: Option<TermStamp>,
    /// The newest term that a switch has seen and nobody in the cluster has raised.
    foreign: Option<Term>,
    /// Whether a switch has accepted the term.
    is_accepted: bool,
}

impl Mastership {
    pub(crate) const fn new(term: Term) -> Self {
        Self { term: Some(term), newest: term, stamp: None, foreign: None, is_accepted: false }
    }

    /// That of a member of a cluster, which does not lead yet.
    pub(crate) const fn standby(stamp: TermStamp) -> Self {
        Self { term: None, newest: Term(0), stamp: Some(stamp), foreign: None, is_accepted: false }
    }

    /// The newest term of all that were seen; in a cluster, of those that it has given.
    pub(crate) const fn newest(&self) -> Term {
        self.newest
    }

    /// Whether terms are given by a cluster.
    pub(crate) const fn is_elected(&self) -> bool {
        self.stamp.is_some()
    }

    /// Whether this term was raised outside the cluster that gives terms.
    pub(crate) fn is_foreign(&self, term: Term) -> bool {
        self.stamp.is_some_and(|stamp| !stamp.is_of_cluster(term))
    }

    /// The newest such term that a switch has seen.
    pub(crate) const fn newest_foreign(&self) -> Option<Term> {
        self.foreign
    }

    /// The cluster has elected this controller, or another one.
    pub(crate) const fn set_elected(&mut self, term: Option<Term>, newest: Term) {
        self.term = term;
        self.newest = self.newest.newest(newest);
    }

    pub(crate) const fn term(&self) -> Option<Term> {
        self.term
    }

    /// A switch has made this controller its master.
    pub(crate) const fn note_accepted(&mut self) {
        self.is_accepted = true;
    }

    /// A switch has seen this term.
    pub(crate) fn note_seen(&mut self, term: Term) {
        if self.is_foreign(term) {
            // It stays where it was seen: a standby would show it to every switch with its role.
            self.foreign = Some(self.foreign.map_or(term, |newest| newest.newest(term)));
            return;
        }
        self.newest = self.newest.newest(term);
        if let Some(own) = self.term
            && !self.is_elected()
            && !self.is_accepted
            && self.newest.is_newer_than(own)
        {
            self.term = Some(self.newest.next());
        }
    }

    /// Raises the term above all others, on purpose.
    pub(crate) const fn take_over(&mut self) -> Term {
        let term = match self.term {
            Some(own) => own.newest(self.newest).next(),
            None => self.newest.next(),
        };
        (self.term, self.newest, self.is_accepted) = (Some(term), term, false);
        term
    }
}

#[cfg(test)]
mod tests {
    use braid_cluster::MemberId;

    use super::*;

    #[test]
    fn a_controller_that_starts_takes_over_whatever_its_clock_says() {
        let mut mastership = Mastership::new(Term(5));
        mastership.note_seen(Term(900));
        assert_eq!(mastership.term(), Some(Term(901)));
        mastership.note_seen(Term(900));
        assert_eq!(mastership.term(), Some(Term(901)), "one term is enough for all switches");
    }

    #[test]
    fn a_controller_that_serves_yields_to_a_newer_one_until_it_takes_over_on_purpose() {
        let mut mastership = Mastership::new(Term(5));
        mastership.note_accepted();
        mastership.note_seen(Term(8));
        assert_eq!(mastership.term(), Some(Term(5)));
        assert_eq!(mastership.take_over(), Term(9));
        mastership.note_seen(Term(20));
        assert_eq!(mastership.term(), Some(Term(21)), "what it did not know of when it took over");
    }

    #[test]
    fn a_switch_without_a_generation_raises_no_term() {
        let mut mastership = Mastership::new(Term(5));
        mastership.note_seen(Term(u64::MAX));
        assert_eq!(mastership.term(), Some(Term(5)));
    }

    #[test]
    fn a_member_of_a_cluster_has_no_term_but_what_it_is_elected_for() {
        let stamp = TermStamp::new("default", &MemberId::new("a"));
        let [first, second, third] = [7, 1 << 40, 1 << 50].map(|number| stamp.above(Term(number)));
        let mut mastership = Mastership::standby(stamp);
        mastership.note_seen(first);
        assert_eq!((mastership.term(), mastership.newest()), (None, first));
        mastership.set_elected(Some(second), second);
        mastership.note_seen(third);
        assert_eq!(mastership.term(), Some(second), "the cluster decides what follows");
    }

    #[test]
    fn a_term_from_outside_the_cluster_is_not_spread_to_other_switches() {
        let stamp = TermStamp::new("default", &MemberId::new("a"));
        let own = stamp.above(Term(7));
        let foreign = TermStamp::new("other", &MemberId::new("a")).above(own);
        let mut mastership = Mastership::standby(stamp);
        mastership.set_elected(Some(own), own);
        mastership.note_seen(foreign);
        mastership.note_seen(own.next());
        assert_eq!((mastership.term(), mastership.newest()), (Some(own), own));
        assert_eq!(mastership.newest_foreign(), Some(foreign));
    }
}
