//! Settings of rebalancing: when a link is full, and how many streams leave it.

use std::time::Duration;

/// When streams are moved off full links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RebalanceSettings {
    /// How many streams are moved a minute at most; with 0 none is.
    pub moves_per_minute: usize,
    /// A link is full while so much of its capacity is in use.
    pub full: f64,
    /// It must have been full for so long.
    pub patience: Duration,
    /// Another path must have room for so many times what the stream carries.
    pub gain: f64,
    /// A stream that has moved stays for so long.
    pub rest: Duration,
}

impl Default for RebalanceSettings {
    fn default() -> Self {
        Self {
            moves_per_minute: 30,
            full: 0.85,
            patience: Duration::from_secs(3),
            gain: 1.25,
            rest: Duration::from_secs(30),
        }
    }
}
