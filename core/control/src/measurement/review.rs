//! The review of all links between two readings of their counters: both ends are compared, and changes are published.
//!
//! A large network has hundreds of thousands of links, so maps are walked side by side instead of being searched for each.

use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::iter::Peekable;
use std::time::Duration;

use braid_topology::{Link, LinkState, Topology};
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

use super::counts::PortMeter;
use super::delay::OneWayDelay;
use super::loss::{Lag, MIN_PACKETS, loss};
use super::publish::is_due;
use super::{LinkMeter, Measurement, half_trip, port_speed};
use crate::context::Context;
use crate::settings::Settings;

/// The time that a switch may take to read its counters.
const TICK_SLACK: Duration = Duration::from_millis(10);

/// The meters of ports, one after the other.
struct Walk<'a>(Peekable<Iter<'a, SwitchPort, Box<PortMeter>>>);

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
        let half_trips = self.half_trips();
        let half_trip = |dpid| half_trips.get(&dpid).copied().unwrap_or_default();
        let (mut sources, mut news) = (Walk(self.ports.iter().peekable()), Vec::new());
        // There is a meter of each link, and both are in the order of links.
        for ((link, known), (of, meter)) in cx.topology.links().zip(self.links.iter_mut()) {
            debug_assert_eq!(link, *of);
            let src = sources.go_to(link.src);
            if let Some((src, dst)) = src.filter(|src| is_busy(src)).zip(self.ports.get(&link.dst)) {
                meter.compare(src, dst, half_trip(link.src.dpid) + half_trip(link.dst.dpid), window);
            }
            let speed = || if is_same { known.capacity } else { port_speed(cx.topology, &link) };
            let capacity = meter.capacity_of(cx.settings, &link).unwrap_or_else(speed);
            let state = meter.state(src, LinkState { capacity, ..known });
            if is_due(cx, meter.published_at, &known, &state) {
                meter.published_at = Some(cx.now);
                news.push((link, state));
            }
        }
        news
    }

    /// Half of a current round trip to each switch.
    fn half_trips(&self) -> BTreeMap<DatapathId, Duration> {
        let half = |dpid| half_trip(&self.switches, dpid).map(OneWayDelay::median);
        self.switches.keys().filter_map(|dpid| Some((*dpid, half(*dpid)?))).collect()
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

/// Whether so many packets were sent that their loss says something.
fn is_busy(port: &PortMeter) -> bool {
    port.sent().packets() as f64 >= MIN_PACKETS
}

impl<'a> Walk<'a> {
    /// The meter of a port; each call is for a later port than the one before.
    fn go_to(&mut self, to: SwitchPort) -> Option<&'a PortMeter> {
        while self.0.next_if(|(at, _)| **at < to).is_some() {}
        self.0.next_if(|(at, _)| **at == to).map(|(_, port)| port.as_ref())
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
