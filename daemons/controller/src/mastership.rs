//! The term in which this controller claims the role of master of all switches.

use braid_types::Term;

/// The term of the whole controller, and the newest one that any switch has reported.
///
/// A controller that starts takes over: until a switch has accepted its term, it raises the term above those that switches
/// report. From then on, a switch with a newer term has a newer controller, and keeps it.
#[derive(Debug)]
pub(crate) struct Mastership {
    term: Term,
    newest: Term,
    /// Whether a switch has accepted the term.
    is_accepted: bool,
}

impl Mastership {
    pub(crate) const fn new(term: Term) -> Self {
        Self { term, newest: term, is_accepted: false }
    }

    pub(crate) const fn term(&self) -> Term {
        self.term
    }

    /// A switch has made this controller its master.
    pub(crate) const fn note_accepted(&mut self) {
        self.is_accepted = true;
    }

    /// A switch has seen this term.
    pub(crate) const fn note_seen(&mut self, term: Term) {
        self.newest = self.newest.newest(term);
        if !self.is_accepted && self.newest.is_newer_than(self.term) {
            self.term = self.newest.next();
        }
    }

    /// Raises the term above all others, on purpose.
    pub(crate) const fn take_over(&mut self) -> Term {
        self.term = self.term.newest(self.newest).next();
        self.newest = self.term;
        self.is_accepted = false;
        self.term
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_starts_takes_over_whatever_its_clock_says() {
        let mut mastership = Mastership::new(Term(5));
        mastership.note_seen(Term(900));
        assert_eq!(mastership.term(), Term(901));
        mastership.note_seen(Term(900));
        assert_eq!(mastership.term(), Term(901), "one term is enough for all switches");
    }

    #[test]
    fn a_controller_that_serves_yields_to_a_newer_one_until_it_takes_over_on_purpose() {
        let mut mastership = Mastership::new(Term(5));
        mastership.note_accepted();
        mastership.note_seen(Term(8));
        assert_eq!(mastership.term(), Term(5));
        assert_eq!(mastership.take_over(), Term(9));
        mastership.note_seen(Term(20));
        assert_eq!(mastership.term(), Term(21), "what it did not know of when it took over");
    }

    #[test]
    fn a_switch_without_a_generation_raises_no_term() {
        let mut mastership = Mastership::new(Term(5));
        mastership.note_seen(Term(u64::MAX));
        assert_eq!(mastership.term(), Term(5));
    }
}
