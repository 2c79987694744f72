//! Settings of rebalancing: the load of a full link, and limits on moving streams.

use std::time::Duration;

/// When streams are moved off full links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RebalanceSettings {
    /// The most streams moved each minute; 0 disables rebalancing.
    pub moves_per_minute: usize,
    /// A link is full when this share of its capacity is used.
    pub full_utilization: f64,
    /// How long a link must have been full.
    pub full_time: Duration,
    /// The room that another path must have, as a multiple of the stream's rate.
    pub min_headroom: f64,
    /// How long a moved stream stays.
    pub hold_down: Duration,
}

impl Default for RebalanceSettings {
    fn default() -> Self {
        Self {
            moves_per_minute: 30,
            full_utilization: 0.85,
            full_time: Duration::from_secs(3),
            min_headroom: 1.25,
            hold_down: Duration::from_secs(30),
        }
    }
}
