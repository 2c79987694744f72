//! How often a switch is passed on: one whose relays end at once is left alone for longer each time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use braid_types::DatapathId;

/// The pause after a relay was opened, at first and at most.
const MIN_PAUSE: Duration = Duration::from_secs(2);
const MAX_PAUSE: Duration = Duration::from_secs(16);

/// When each switch was passed on last, and when it may be again.
#[derive(Debug, Default)]
pub(super) struct Pacing(BTreeMap<DatapathId, Opened>);

#[derive(Clone, Copy, Debug)]
struct Opened {
    until: Instant,
    pause: Duration,
}

impl Pacing {
    /// Whether the switch may be passed on now; that is noted.
    pub(super) fn admits(&mut self, now: Instant, dpid: DatapathId) -> bool {
        self.0.retain(|_, opened| now < opened.until + MAX_PAUSE);
        let pause = match self.0.get(&dpid) {
            Some(opened) if now < opened.until => return false,
            Some(opened) => (opened.pause * 2).min(MAX_PAUSE),
            None => MIN_PAUSE,
        };
        self.0.insert(dpid, Opened { until: now + pause, pause });
        true
    }

    /// Another member leads, with which nothing was tried.
    pub(super) fn begin_anew(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_whose_relays_fail_is_tried_less_and_less_often() {
        let (start, mut pacing) = (Instant::now(), Pacing::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        let tried: Vec<_> = (0..80).filter(|it| pacing.admits(at(*it), DatapathId(1))).collect();
        assert_eq!(tried, [0, 2, 6, 14, 30, 46, 62, 78]);
        assert!(pacing.admits(at(79), DatapathId(2)), "another switch");
        pacing.begin_anew();
        assert!(pacing.admits(at(79), DatapathId(1)));
    }

    #[test]
    fn a_switch_that_was_left_alone_for_long_is_tried_at_once() {
        let (start, mut pacing) = (Instant::now(), Pacing::default());
        assert!(pacing.admits(start, DatapathId(1)));
        let later = start + MIN_PAUSE + MAX_PAUSE;
        assert!(
            pacing.admits(later, DatapathId(1))
                && !pacing.admits(later + Duration::from_secs(1), DatapathId(1))
        );
        assert!(pacing.admits(later + MIN_PAUSE, DatapathId(1)), "the pause is short again");
    }
}
