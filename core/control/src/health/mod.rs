//! Health: links that are up but lose or corrupt frames, found by comparing the counters of both ends.
//!
//! Each reading of the counters is a [`step`](step::Step) of the links at its port, and [`loss_test`] judges the steps.
//! While frames seem to be missing, the counters are read some five times a second. A degraded link is avoided, and
//! used again once it has been clean for its hold time, with [`test_frames`] where it has no traffic.

mod congestion;
mod evidence;
mod link;
mod loss_test;
mod readings;
mod run;
mod step;
mod test_frames;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use braid_topology::{Degradation, Link, LinkState, Topology};
use braid_types::{DatapathId, SwitchPort, Time};

use crate::context::Context;
use crate::facts::{LinkFact, LossyFact};
use crate::measurement::{Measurement, ReadPeriod};
use crate::port_counters::PortCounters;
use link::{Change, LinkHealth};
use readings::PortReadings;

pub use evidence::LossEvidence;
pub(crate) use link::Degraded;

/// Links whose counters are read more often at one time.
const MAX_SUSPECTS: usize = 16;
/// How long counters are read more often after frames seemed to be missing.
const SUSPICION_TIME: Duration = Duration::from_secs(5);
/// The least and the greatest time between such readings. It varies so that counters which a switch renews
/// regularly are not always read when they are equally old.
const FAST_INTERVAL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(300));

/// Links that get test frames at one time.
const MAX_TESTED: usize = 8;
/// A link with more traffic, in frames a second, needs no test frames.
const TEST_BELOW: f64 = 300.0;

/// How often links that are gone are forgotten, and links that returned are degraded again.
const REVIEW_INTERVAL: Duration = Duration::from_secs(1);
/// Links that are remembered while they are down, as they were degraded.
const MAX_DEGRADED: usize = 1_024;

/// The links that are compared, and those that are degraded.
#[derive(Debug, Default)]
pub(crate) struct Health {
    ports: BTreeMap<SwitchPort, PortReadings>,
    /// Boxed, as nodes of maps are half empty.
    links: BTreeMap<Link, Box<LinkHealth>>,
    /// Links whose frames seem to be missing, and until when that is believed.
    suspects: BTreeMap<Link, Time>,
    /// Links that are degraded; they are remembered while they are down.
    degraded: BTreeSet<Link>,
    next_fast_read: Time,
    reviewed_at: Time,
    /// The revision of the topology that these ports and links are of.
    revision: Option<u64>,
    events: VecDeque<HealthEvent>,
}

/// The counters of a switch, and when it read them.
pub(crate) struct CountersRead<'a> {
    pub(crate) dpid: DatapathId,
    pub(crate) period: ReadPeriod,
    pub(crate) ports: &'a [PortCounters],
}

/// A report to the machines above.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum HealthEvent {
    /// A link loses frames and is avoided from now on.
    Degraded { link: Link, evidence: LossEvidence },
    /// A degraded link has been clean for its hold time.
    Recovered { link: Link, evidence: LossEvidence },
}

impl Health {
    /// The next report, in order.
    pub(crate) fn poll_event(&mut self) -> Option<HealthEvent> {
        self.events.pop_front()
    }

    /// The state of a degraded link; `None` for others.
    pub(crate) fn degraded(&self, link: &Link) -> Option<&Degraded> {
        self.links.get(link)?.degraded()
    }

    /// A switch has sent port counters, or a part of them: compares the links at these ports.
    pub(crate) fn handle_port_counters(
        &mut self,
        cx: &mut Context<'_>,
        measurement: &Measurement,
        read: &CountersRead<'_>,
    ) {
        if !cx.settings.health.enabled {
            return;
        }
        for counters in read.ports {
            let at = SwitchPort::new(read.dpid, counters.port);
            let Some(link) = cx.topology.link_at(at) else { continue };
            self.ports.entry(at).or_default().note(read.period, counters);
            self.compare(cx, measurement, link);
            let reverse = link.reversed();
            if cx.topology.link_at(reverse.src) == Some(reverse) {
                self.compare(cx, measurement, reverse);
            }
        }
    }

    /// Reads the counters of suspects, tests degraded links, and forgets links that are gone. Called once a tick.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>, measurement: &mut Measurement) {
        self.suspects.retain(|_, until| *until > cx.now);
        if !self.suspects.is_empty() && cx.now >= self.next_fast_read {
            self.next_fast_read = cx.now + fast_interval(cx.now);
            let ends = self.suspects.keys().flat_map(|link| [link.src.dpid, link.dst.dpid]);
            for dpid in ends.collect::<BTreeSet<_>>() {
                measurement.request_counters(cx, dpid);
            }
        }
        self.test_degraded(cx);
        if cx.now.since(self.reviewed_at) >= REVIEW_INTERVAL {
            self.reviewed_at = cx.now;
            self.review(cx);
        }
    }

    /// A link is found. One that lost frames when it was last known, here or by the controller that led before, is avoided as
    /// then.
    pub(crate) fn handle_link_up(&mut self, cx: &mut Context<'_>, link: Link, known: Option<LinkFact>) {
        let lossy = known.and_then(|fact| fact.lossy).filter(|_| cx.settings.health.enabled);
        if let Some(LossyFact { evidence, hold }) = lossy
            && self.links.entry(link).or_default().recall(cx.now, evidence, hold)
        {
            self.degraded.insert(link);
            self.events.push_back(HealthEvent::Degraded { link, evidence });
        }
        if [link, link.reversed()].iter().any(|link| self.degraded.contains(link)) {
            self.mark(cx, &link);
        }
    }

    /// Takes the next step of a link, if both its ends are known at a later moment than before.
    fn compare(&mut self, cx: &mut Context<'_>, measurement: &Measurement, link: Link) {
        let (Some(src), Some(dst)) = (self.ports.get(&link.src), self.ports.get(&link.dst)) else { return };
        let health = self.links.entry(link).or_default();
        // Of the counters of both ends, which come one after the other, the first lead no further.
        if !health.comparison.may_go_on(src, dst) {
            return;
        }
        let delay = measurement.delay(&link);
        let base = delay.map(|delay| delay.base).unwrap_or_default();
        let Some(step) = health.comparison.step(src, dst, base) else { return };
        let state = cx.topology.state_at(link.src).unwrap_or_default();
        let usage = health.congestion.note(&step, state, delay);
        match health.note(step, &cx.settings.health, usage) {
            None => {}
            Some(Change::Suspicious) => self.suspect(cx.now, link),
            Some(Change::Degraded(evidence)) => {
                self.suspects.remove(&link);
                self.degraded.insert(link);
                self.mark(cx, &link);
                self.events.push_back(HealthEvent::Degraded { link, evidence });
            }
            Some(Change::Recovered(evidence)) => {
                self.degraded.remove(&link);
                self.mark(cx, &link);
                self.events.push_back(HealthEvent::Recovered { link, evidence });
            }
        }
    }

    fn suspect(&mut self, now: Time, link: Link) {
        if self.suspects.len() < MAX_SUSPECTS || self.suspects.contains_key(&link) {
            self.suspects.insert(link, now + SUSPICION_TIME);
        }
    }

    /// Marks both directions of a link as degraded as the worse one: what takes one of them gets its replies by the
    /// other.
    fn mark(&self, cx: &mut Context<'_>, link: &Link) {
        let of = |link: &Link| {
            let share = self.degraded(link).map(|it| it.evidence.share());
            share.map_or(Degradation::NONE, Degradation::of_loss)
        };
        let degradation = of(link).max(of(&link.reversed()));
        for end in [link.src, link.dst] {
            if let Some(state) = cx.topology.state_at(end) {
                cx.topology.set_link_state(end, LinkState { degradation, ..state });
            }
        }
    }

    /// Sends test frames into degraded links with little traffic, first into those that were clean for longest.
    fn test_degraded(&self, cx: &mut Context<'_>) {
        let idle = self.degraded.iter().filter_map(|link| {
            let health = self.links.get(link).filter(|health| health.rate < TEST_BELOW)?;
            Some((health.degraded()?.clean_since, *link))
        });
        let mut idle: Vec<_> =
            idle.filter(|(_, link)| cx.topology.link_at(link.src) == Some(*link)).collect();
        idle.sort_unstable();
        idle.into_iter().take(MAX_TESTED).for_each(|(_, link)| test_frames::send(cx, link));
    }

    /// Follows a changed topology. Degraded links are kept, and are degraded when they return.
    fn review(&mut self, cx: &mut Context<'_>) {
        let revision = Some(cx.topology.revision());
        if std::mem::replace(&mut self.revision, revision) != revision {
            self.forget_what_is_gone(cx.topology);
        }
        for link in &self.degraded {
            self.mark(cx, link);
        }
    }

    /// Forgets ports and links that are gone, unless they are degraded.
    fn forget_what_is_gone(&mut self, topology: &Topology) {
        let is_up = |link: &Link| topology.link_at(link.src) == Some(*link);
        self.ports.retain(|at, _| topology.link_at(*at).is_some());
        let degraded = &self.degraded;
        self.links.retain(|link, _| is_up(link) || degraded.contains(link) && degraded.len() <= MAX_DEGRADED);
        for link in self.links.iter_mut().filter(|(link, _)| !is_up(link)).map(|(_, health)| health) {
            link.restart();
        }
        let links = &self.links;
        self.degraded.retain(|link| links.contains_key(link));
    }
}

/// A time in the range of [`FAST_INTERVAL`] that looks random.
fn fast_interval(now: Time) -> Duration {
    let (least, most) = FAST_INTERVAL;
    // Fibonacci hashing: the upper bits depend on the whole time.
    let part = now.as_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    least + (most - least) * part as u32 / 256
}
