//! Rates of streams from their byte counts over the last three seconds.

use std::collections::VecDeque;
use std::time::Duration;

use braid_control::view::StreamView;
use braid_types::Time;

/// Switches bring a rule's counters up to date every half second or so, whenever they are read: over one second a rate
/// would be wrong by half.
const WINDOW: Duration = Duration::from_secs(3);

/// The last counts of a stream.
#[derive(Debug, Default)]
pub(super) struct Counts(VecDeque<(Time, [u64; 2])>);

impl Counts {
    /// What was sent and received since the counts of [`WINDOW`] ago, in bits a second.
    pub(super) fn rates(&mut self, now: Time, view: &StreamView) -> [f32; 2] {
        let counts = [view.bytes_sent, view.bytes_received];
        self.0.push_back((now, counts));
        // The one at the window's begin stays.
        while self.0.get(1).is_some_and(|(at, _)| now.since(*at) >= WINDOW) {
            self.0.pop_front();
        }
        match self.0.front() {
            Some((at, before)) if *at < now => {
                let seconds = now.since(*at).as_secs_f64();
                // Counters of a rule that was written anew begin anew.
                let rate = |index: usize| counts[index].saturating_sub(before[index]) as f64 * 8.0 / seconds;
                [rate(0) as f32, rate(1) as f32]
            }
            _ => [view.sent_bps as f32, view.received_bps as f32],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use braid_steering::StreamId;

    use super::*;

    #[test]
    fn counts_that_come_late_make_no_spikes() {
        let ip = Ipv4Addr::LOCALHOST.into();
        let view = |bytes| StreamView {
            id: StreamId(1),
            src: ip,
            dst: ip,
            src_port: 1,
            dst_port: 2,
            path: Vec::new(),
            ports: Vec::new(),
            spray_paths: Vec::new(),
            bytes_sent: bytes,
            bytes_received: 0,
            sent_bps: 0,
            received_bps: 0,
        };
        let mut counts = Counts::default();
        // 1,000 bytes a second, every other reading as it was half a second before.
        let rates: Vec<_> = (0..20)
            .map(|at| counts.rates(Time::from_millis(at * 1_000), &view(at * 1_000 - at % 2 * 500))[0])
            .collect();
        assert!(rates[4..].iter().all(|rate| (6_600.0..9_400.0).contains(rate)), "{rates:?}");
        assert!(counts.0.len() <= 4);
        let anew = counts.rates(Time::from_millis(20_000), &view(0));
        assert_eq!(anew, [0.0, 0.0]);
    }
}
