//! Settings of link measurement: intervals, smoothing, and the changes that are large enough to publish.

use std::time::Duration;

/// Settings of link measurement and of its publication to the graph.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeasurementSettings {
    /// The time between readings of port counters.
    pub poll_interval: Duration,
    /// The window of samples of which base delay is the minimum; at most about a minute.
    pub delay_window: Duration,
    /// The time constant of load smoothing: 63 % of a change show after this time.
    pub smoothing: Duration,
    /// The period over which loss is computed; at most about 15 s.
    pub loss_window: Duration,
    /// The least time between updates of a link in the graph.
    pub publish_interval: Duration,
    /// The relative change of delay that updates the graph.
    pub delay_step: f64,
    /// The least absolute change of delay that updates the graph.
    pub delay_floor: Duration,
    /// The change of load, relative to the link's capacity, that updates the graph.
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
