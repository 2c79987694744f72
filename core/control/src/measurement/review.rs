//! The review of all links between two readings of their counters: both ends are compared, and changes are published.
//!
//! A large network has hundreds of thousands of links, so maps are walked side by side instead of being searched for each.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::time::Duration;

use braid_topology::{Link, LinkState, Topology};
use braid_types::{BitsPerSec, DatapathId};

use super::counts::PortMeter;
use super::delay::OneWayDelay;
use super::loss::{Lag, MIN_PACKETS, loss};
use super::publish::is_due;
use super::{LinkMeter, Measurement, half_trip};
use crate::context::Context;
use crate::settings::Settings;

/// The time that a switch may take to read its counters.
const TICK_SLACK: Duration = Duration::from_millis(10);

/// What a map has for each of several keys, which come in ascending order.
struct Walk<I: Iterator>(Peekable<I>);

/// Where the capacity of a link comes from that is neither configured nor measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fallback {
    /// From its state, which was made from its ports: none has changed since.
    State,
    /// From its ports.
    Ports,
}

impl Measurement {
    /// Compares both ends of each link over the last `window`, and publishes what has changed enough.
    pub(super) fn review(&mut self, cx: &mut Context<'_>, window: Duration) {
        let revision = Some(cx.topology.revision());
        let is_same = std::mem::replace(&mut self.revision, revision) == revision;
        let fallback = if is_same { Fallback::State } else { Fallback::Ports };
        if fallback == Fallback::Ports || self.links.len() != cx.topology.links().len() {
            self.follow_topology(cx.topology);
        }
        let news = self.compare_all(cx, window, fallback);
        for (link, state) in news {
            cx.topology.set_link_state(link.src, state);
        }
    }

    /// The links whose state is to be published, and which it is.
    fn compare_all(
        &mut self,
        cx: &Context<'_>,
        window: Duration,
        fallback: Fallback,
    ) -> Vec<(Link, LinkState)> {
        let half_trips = self.half_trips();
        let half_trip = |dpid| half_trips.get(&dpid).copied().unwrap_or_default();
        let (mut ports, mut meters) = (Walk::of(self.ports.iter()), Walk::of(self.links.iter_mut()));
        let mut news = Vec::new();
        for (link, known) in cx.topology.links() {
            // Each link has one, see [`Self::follow_topology`].
            let Some(meter) = meters.go_to(&link) else { continue };
            let src = ports.go_to(&link.src).map(Box::as_ref);
            if let Some((src, dst)) = src.filter(|src| is_busy(src)).zip(self.ports.get(&link.dst)) {
                meter.compare(src, dst, half_trip(link.src.dpid) + half_trip(link.dst.dpid), window);
            }
            let speed = || match fallback {
                Fallback::State => known.capacity,
                Fallback::Ports => self.shaping.speed(cx.topology, &link),
            };
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

impl<'a, K: Ord + 'a, V, I: Iterator<Item = (&'a K, V)>> Walk<I> {
    fn of(map: I) -> Self {
        Self(map.peekable())
    }

    /// The value of a key; each call is for a later key than the one before.
    fn go_to(&mut self, to: &K) -> Option<V> {
        while self.0.next_if(|(at, _)| *at < to).is_some() {}
        self.0.next_if(|(at, _)| *at == to).map(|(_, value)| value)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_what_a_map_has_and_nothing_for_other_keys() {
        let map = BTreeMap::from([(2, "two"), (3, "three"), (7, "seven")]);
        let mut walk = Walk::of(map.iter());
        let found = [1, 2, 5, 7, 9].map(|key| walk.go_to(&key).copied());
        assert_eq!(found, [None, Some("two"), None, Some("seven"), None]);
    }
}
