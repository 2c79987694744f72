//! Publication of measurements to the graph. Small changes are held back, so that path sets and graphs stay
//! valid.

use std::time::Duration;

use braid_topology::LinkState;
use braid_types::Time;

use crate::context::Context;
use crate::settings::MeasurementSettings;

/// Whether the state of a link is to be written into the topology: it changed enough, and the last update is old
/// enough. A new capacity is published at once.
pub(super) fn is_due(
    cx: &Context<'_>,
    published_at: Option<Time>,
    known: &LinkState,
    measured: &LinkState,
) -> bool {
    let settings = &cx.settings.measurement;
    let is_old = published_at.is_none_or(|at| cx.now.since(at) >= settings.publish_interval);
    measured.capacity != known.capacity || is_old && is_news(known, measured, settings)
}

fn is_news(known: &LinkState, measured: &LinkState, settings: &MeasurementSettings) -> bool {
    let delay = match (known.delay, measured.delay) {
        (Some(old), Some(new)) => new.abs_diff(old) > step(old, settings),
        (old, new) => old != new,
    };
    let moved = measured.load.0.abs_diff(known.load.0) as f64;
    delay || moved > settings.load_step * known.capacity.as_f64()
}

fn step(delay: Duration, settings: &MeasurementSettings) -> Duration {
    delay.mul_f64(settings.delay_step.clamp(0.0, 1.0)).max(settings.delay_floor)
}
