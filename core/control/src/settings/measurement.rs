//! Settings of link measurement: intervals, smoothing, and the changes that are large enough to publish.

use std::time::Duration;

/// How links are measured, and when what is measured counts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeasurementSettings {
    /// Between readings of the ports' counters.
    pub poll_interval: Duration,
    /// A link's base delay is the least that was measured for this long; at most about a minute.
    pub delay_window: Duration,
    /// Time constant with which load is smoothed: of a change, 63 % show after this long.
    pub smoothing: Duration,
    /// Loss is counted over this long; at most about a quarter of a minute.
    pub loss_window: Duration,
    /// How often at most the graph hears of a link's measured values.
    pub publish_interval: Duration,
    /// The graph hears of a delay that has changed by this part of what it was.
    pub delay_step: f64,
    /// The graph does not hear of a delay that has changed by less than this.
    pub delay_floor: Duration,
    /// The graph hears of a load that has changed by this part of the link's capacity.
    pub load_step: f64,
}

impl Default for MeasurementSettings {
    fn default() -> Self {
        Self {
            poll_interval: Duration::from_secs(1),
            delay_window: Duration::from_secs(20),
            smoothing: Duration::from_secs(3),
            loss_window: Duration::from_secs(10),
            publish_interval: Duration::from_secs(2),
            delay_step: 0.1,
            delay_floor: Duration::from_micros(250),
            load_step: 0.05,
        }
    }
}
