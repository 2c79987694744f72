//! Sixteen pairs of lines, as published for a tunnel over QUIC: rates, delays of one way, jitter and loss.

use braid_link_model::{Delay, Distribution, Parameters, Probability, QueueLimit};
use braid_types::BitsPerSec;

/// Two lines that somebody may have.
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) lines: [Parameters; 2],
    /// Whether both must carry much more than the better one.
    pub(crate) gains: bool,
}

impl Profile {
    /// Whether there is jitter or loss.
    pub(crate) fn has_chance(&self) -> bool {
        self.lines.iter().any(|line| line.jitter != Delay::ZERO || line.loss != Probability::ZERO)
    }

    /// How many seeds tell what the lines carry: results with much jitter spread the most, those of very fast lines hardly.
    pub(crate) fn seeds(&self) -> u64 {
        let is_fast = self.lines.iter().any(|line| line.rate > Some(BitsPerSec(100_000_000)));
        let is_wild = |line: &Parameters| {
            line.jitter >= Delay::from_millis(25) && line.rate >= Some(BitsPerSec(100_000_000))
        };
        if self.lines.iter().any(is_wild) {
            12
        } else if self.has_chance() && !is_fast {
            4
        } else {
            1
        }
    }
}

/// A line: Mbit/s, milliseconds, milliseconds of jitter, percent lost.
fn line(rate: u64, delay: u64, jitter: u64, loss: f64) -> Parameters {
    Parameters {
        rate: Some(BitsPerSec(rate * 1_000_000)),
        delay: Delay::from_millis(delay),
        jitter: Delay::from_millis(jitter),
        distribution: Distribution::Normal,
        loss: Probability::new(loss / 100.0).unwrap(),
        // As netem's.
        queue: QueueLimit::Packets(1_000),
        ..Parameters::default()
    }
}

pub(crate) fn all() -> Vec<Profile> {
    let pair = |name, gains, lines| Profile { name, lines, gains };
    vec![
        pair("baseline", true, [line(50, 20, 0, 0.0), line(50, 20, 0, 0.0)]),
        pair("rtt_40", true, [line(50, 20, 0, 0.0), line(50, 40, 0, 0.0)]),
        pair("rtt_70", true, [line(50, 20, 0, 0.0), line(50, 70, 0, 0.0)]),
        pair("rtt_120", false, [line(50, 20, 0, 0.0), line(50, 120, 0, 0.0)]),
        pair("rtt_320", false, [line(50, 20, 0, 0.0), line(50, 320, 0, 0.0)]),
        pair("jit_5", true, [line(50, 20, 5, 0.0), line(50, 20, 5, 0.0)]),
        pair("jit_20", true, [line(50, 20, 20, 0.0), line(50, 20, 20, 0.0)]),
        pair("loss_05", true, [line(50, 20, 0, 0.5), line(50, 20, 0, 0.5)]),
        pair("loss_2", true, [line(50, 20, 0, 2.0), line(50, 20, 0, 2.0)]),
        pair("bw_4to1", false, [line(50, 20, 0, 0.0), line(12, 20, 0, 0.0)]),
        pair("bw_10to1", false, [line(100, 20, 0, 0.0), line(10, 20, 0, 0.0)]),
        pair("dual_lte", false, [line(40, 30, 5, 0.5), line(25, 45, 8, 0.5)]),
        pair("fiber_lte", false, [line(300, 8, 0, 0.0), line(30, 40, 8, 0.5)]),
        pair("lte_starlink", false, [line(40, 35, 8, 0.0), line(100, 50, 25, 1.0)]),
        pair("lte_geo", false, [line(40, 35, 0, 0.0), line(20, 320, 20, 0.5)]),
        pair("congested", false, [line(20, 50, 20, 2.0), line(15, 60, 25, 2.0)]),
    ]
}
