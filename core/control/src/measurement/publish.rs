//! Publication of measurements to the graph. Small changes are held back, so that path sets and graphs stay
//! valid.

use std::time::Duration;

use braid_topology::{Link, LinkState};

use super::{LinkReading, Measurement};
use crate::context::Context;
use crate::settings::MeasurementSettings;

impl Measurement {
    /// Writes changed readings into the topology, if they changed enough and the last update is old enough.
    pub(super) fn publish(&mut self, cx: &mut Context<'_>) {
        let links: Vec<_> = cx.topology.links().collect();
        for (link, known) in links {
            let capacity = self.link_capacity(cx.settings, cx.topology, &link);
            let state = self.of(&link).state(LinkState { capacity, ..known });
            let due = self.is_due(cx, &link) && is_news(&known, &state, &cx.settings.measurement);
            if due || capacity != known.capacity {
                cx.topology.set_link_state(link.src, state);
                self.links.entry(link).or_default().published_at = Some(cx.now);
            }
        }
    }

    fn is_due(&self, cx: &Context<'_>, link: &Link) -> bool {
        let published_at = self.links.get(link).and_then(|meter| meter.published_at);
        published_at.is_none_or(|at| cx.now.since(at) >= cx.settings.measurement.publish_interval)
    }
}

impl LinkReading {
    /// The state of the link; `known` where nothing was measured.
    fn state(&self, known: LinkState) -> LinkState {
        LinkState {
            capacity: known.capacity,
            delay: self.delay.map(|reading| reading.base).or(known.delay),
            load: self.load.map_or(known.load, |reading| reading.load),
            degradation: known.degradation,
        }
    }
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
