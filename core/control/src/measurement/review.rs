//! The review of all links between two readings of their counters: both ends are compared, and changes are published.
//!
//! A large network has hundreds of thousands of links, so maps are walked side by side instead of being searched for each.

use std::time::Duration;

use braid_topology::{Link, LinkState, Topology};
use braid_types::BitsPerSec;

use super::counts::PortMeter;
use super::delay::OneWayDelay;
use super::loss::{Lag, MIN_PACKETS, loss};
use super::publish::is_due;
use super::{LinkMeter, Measurement, half_trip, port_speed};
use crate::context::Context;
use crate::settings::Settings;

/// The time that a switch may take to read its counters.
const TICK_SLACK: Duration = Duration::from_millis(10);

impl Measurement {
    /// Compares both ends of each link over the last `window`, and publishes what has changed enough.
    pub(super) fn review(&mut self, cx: &mut Context<'_>, window: Duration) {
        let revision = Some(cx.topology.revision());
        let is_same = std::mem::replace(&mut self.revision, revision) == revision;
        if !is_same || self.links.len() != cx.topology.links().len() {
            self.follow_topology(cx.topology);
        }
        let news = self.compare_all(cx, window, is_same);
        for (link, state) in news {
            cx.topology.set_link_state(link.src, state);
        }
    }

    /// The links whose state is to be published, and which it is.
    fn compare_all(&mut self, cx: &Context<'_>, window: Duration, is_same: bool) -> Vec<(Link, LinkState)> {
        let (mut ports, mut news) = (self.ports.iter(), Vec::new());
        let mut next_port = ports.next();
        let links = cx.topology.links();
        // There is a meter of each link, and both are in the order of links.
        for ((link, known), (of, meter)) in links.zip(self.links.iter_mut()) {
            debug_assert_eq!(link, *of);
            while next_port.is_some_and(|(at, _)| *at < link.src) {
                next_port = ports.next();
            }
            let src = next_port.filter(|(at, _)| **at == link.src).map(|(_, port)| port.as_ref());
            let is_busy = src.is_some_and(|src| src.sent().packets() as f64 >= MIN_PACKETS);
            if let Some((src, dst)) = src.filter(|_| is_busy).zip(self.ports.get(&link.dst)) {
                let ends = [link.src, link.dst].into_iter();
                let half_trips =
                    ends.filter_map(|at| half_trip(&self.switches, at.dpid)).map(OneWayDelay::median);
                meter.compare(src, dst, half_trips.sum(), window);
            }
            let capacity = meter
                .capacity_of(cx.settings, &link)
                .unwrap_or_else(|| if is_same { known.capacity } else { port_speed(cx.topology, &link) });
            let state = meter.state(src, LinkState { capacity, ..known });
            if is_due(cx, meter.published_at, &known, &state) {
                meter.published_at = Some(cx.now);
                news.push((link, state));
            }
        }
        news
    }

    /// Forgets what is gone, so that there is a meter of each link and of no other.
    fn follow_topology(&mut self, topology: &Topology) {
        self.switches.retain(|dpid, _| topology.switch(*dpid).is_some());
        self.ports.retain(|at, _| topology.port(*at).is_some());
        self.links.retain(|link, _| topology.link_at(link.src) == Some(*link));
        if self.links.len() < topology.links().len() {
            topology.links().for_each(|(link, _)| _ = self.links.entry(link).or_default());
        }
    }
}

impl LinkMeter {
    fn compare(&mut self, src: &PortMeter, dst: &PortMeter, half_trips: Duration, window: Duration) {
        let delay = self.delay.reading().map(|reading| reading.current).unwrap_or_default();
        let lag = Lag { delay, slack: half_trips + TICK_SLACK };
        self.loss = loss(src.sent(), dst.received(), lag, window).or(self.loss);
    }

    /// The capacity as configured, else as measured.
    fn capacity_of(&self, settings: &Settings, link: &Link) -> Option<BitsPerSec> {
        let configured = settings.capacities.get(&link.src).copied();
        configured.or(self.capacity.map(|reading| reading.capacity))
    }

    /// The state of the link; `known` where nothing was measured.
    fn state(&self, src: Option<&PortMeter>, known: LinkState) -> LinkState {
        LinkState {
            delay: self.delay.reading().map(|reading| reading.base).or(known.delay),
            load: src.and_then(PortMeter::load).map_or(known.load, |reading| reading.load),
            ..known
        }
    }
}
