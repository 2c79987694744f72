//! Work that many events ask for, done once for all of them.

use std::time::Duration;

use braid_types::Time;

/// Links up to which the work costs nothing worth saving.
const FREE: usize = 1_024;
/// The rest after the work for each further link: some ten times what the work takes.
const REST_PER_LINK: Duration = Duration::from_micros(8);
/// The rest doubles while there is always more to do, up to this factor and
const MAX_FACTOR: u32 = 4;
/// up to this.
const MAX_REST: Duration = Duration::from_secs(5);

/// When to do work over the whole network that many events ask for.
///
/// The first event is followed at once. Then the work rests, the longer the larger the network, and all
/// events meanwhile are followed together.
#[derive(Debug, Default)]
pub(crate) struct Coalesced {
    next: Time,
    factor: u32,
}

impl Coalesced {
    /// When the work may be done again.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// Whether the work may be done now.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// The work was done in a network of so many links.
    pub(crate) fn note_done(&mut self, now: Time, links: usize) {
        let over = u32::try_from(links.saturating_sub(FREE)).unwrap_or(u32::MAX);
        let rest = REST_PER_LINK * over;
        // There was more to do before the rest was over for as long again.
        let is_busy = now.since(self.next) < rest * self.factor.max(1);
        self.factor = if is_busy { (self.factor * 2).clamp(1, MAX_FACTOR) } else { 1 };
        self.next = now + (rest * self.factor).min(MAX_REST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: usize = FREE + 12_500;
    const REST: Duration = Duration::from_millis(100);

    #[test]
    fn a_small_network_is_followed_at_once() {
        let mut work = Coalesced::default();
        work.note_done(Time::ZERO, FREE);
        assert!(work.is_due(Time::ZERO));
    }

    #[test]
    fn the_rest_grows_while_there_is_always_more_to_do() {
        let (mut work, mut now, mut rests) = (Coalesced::default(), Time::from_millis(10_000), Vec::new());
        for _ in 0..5 {
            work.note_done(now, LINKS);
            rests.push(work.next().since(now));
            now = work.next();
        }
        assert_eq!(rests, [1, 2, 4, 4, 4].map(|factor| REST * factor));
        work.note_done(now + Duration::from_secs(10), LINKS);
        assert_eq!(work.next(), now + Duration::from_secs(10) + REST, "after a quiet time it is short again");
    }
}
