//! Link measurement: delay, load, loss and capacity, each with its age.
//!
//! Delays come from discovery frames, frames that switches return, and echoes. Load and loss come from port
//! counters, which are read once a second. A missing measurement does not become zero: the last reading ages.
//! [`review`] compares the counters of both ends, and [`publish`] decides when the graph is updated.

mod capacity;
mod counts;
mod delay;
mod loss;
mod publish;
mod review;
mod speed;
mod window;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_packet::lldp::LldpProbe;
use braid_topology::{Link, LinkState, Topology};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SwitchPort, Time};

use crate::command::{Command, Target};
use crate::context::Context;
use crate::facts::LinkFact;
use crate::jitter::jittered;
use crate::port_counters::PortCounters;
use crate::settings::Settings;
use capacity::{CapacityReading, Trains};
use counts::{LoadReading, PortMeter, Totals};
use delay::{DelayMeter, OneWayDelay, RoundTrips};
use loss::LossReading;
use speed::Shaping;

pub(crate) use delay::DelayReading;

/// How long a switch has to answer before it is asked again.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// Counters are read at intervals of at least this for each link, some ten times what reading and comparing
/// them takes.
const POLL_TIME_PER_LINK: Duration = Duration::from_micros(100);
/// Frames out and back are sent at intervals of at least this for each switch.
const FRAME_TIME_PER_SWITCH: Duration = Duration::from_millis(1);

/// The measurements of all switches, ports and links in the topology.
///
/// `measure_capacity` is in `capacity`, and `handle_shaped_ports` in `speed`.
#[derive(Debug, Default)]
pub(crate) struct Measurement {
    switches: BTreeMap<DatapathId, SwitchMeter>,
    /// Boxed, as nodes of maps are half empty.
    ports: BTreeMap<SwitchPort, Box<PortMeter>>,
    links: BTreeMap<Link, Box<LinkMeter>>,
    shaping: Shaping,
    polled_at: Option<Time>,
    /// The revision of the topology that these meters are of; `None`: their capacities are to be made anew.
    revision: Option<u64>,
    trains: Trains,
}

#[derive(Debug, Default)]
struct SwitchMeter {
    echoes: RoundTrips,
    /// Round trips of frames, which a switch may handle more slowly than echoes.
    frames: RoundTrips,
    /// When the last frame was sent.
    frame_at: Time,
    /// When the next one is due.
    next_frame: Time,
    /// When its counters were requested, until they arrive.
    asked_at: Option<Time>,
    /// When the first of the latest requests for counters was sent that may have been answered last.
    asked_since: Time,
}

/// The time in which a switch has read its counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReadPeriod {
    /// When they were requested.
    pub(crate) since: Time,
    /// When they arrived.
    pub(crate) until: Time,
}

#[derive(Debug, Default)]
struct LinkMeter {
    delay: DelayMeter,
    loss: Option<LossReading>,
    capacity: Option<CapacityReading>,
    /// When its capacity was last measured, even without a result.
    capacity_asked_at: Option<Time>,
    published_at: Option<Time>,
}

/// The measurements of a link, as far as they exist.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct LinkReading {
    pub(crate) delay: Option<DelayReading>,
    pub(crate) load: Option<LoadReading>,
    pub(crate) loss: Option<LossReading>,
    pub(crate) capacity: Option<CapacityReading>,
    pub(crate) capacity_asked_at: Option<Time>,
    /// Totals of its sending port.
    pub(crate) sent: Totals,
    /// Packets dropped at either port of the link, before entering or after leaving it.
    pub(crate) dropped: u64,
    /// Packets with errors at either port.
    pub(crate) errors: u64,
}

impl SwitchMeter {
    fn ask(&mut self, cx: &mut Context<'_>, dpid: DatapathId) {
        if self.asked_at.is_none() {
            self.asked_since = cx.now;
        }
        self.asked_at = Some(cx.now);
        cx.out.push(Command::ReadPorts { dpid });
    }

    /// Sends the switch a frame that it returns, and the next one after `wait`.
    fn send_frame(&mut self, cx: &mut Context<'_>, dpid: DatapathId, wait: Duration) {
        let at = SwitchPort::new(dpid, PortNo::CONTROLLER);
        (self.frame_at, self.next_frame) = (cx.now, cx.now + jittered(wait, at, cx.now));
        let probe = LldpProbe { dpid, port: at.port, sent_at: cx.now };
        let frame = probe.encode(&cx.settings.lldp_key, MacAddr::ZERO);
        cx.out.send(dpid, Target::Controller, &frame);
    }
}

impl Measurement {
    /// A switch has answered an echo request sent at `sent_at`.
    pub(crate) fn handle_echo(&mut self, cx: &Context<'_>, dpid: DatapathId, sent_at: Time) {
        if cx.topology.switch(dpid).is_some() {
            let window = cx.settings.measurement.delay_window;
            self.switches.entry(dpid).or_default().echoes.note(cx.now, sent_at, window);
        }
    }

    /// A switch has returned a frame sent at `sent_at`.
    pub(crate) fn handle_returned_probe(&mut self, cx: &Context<'_>, at: SwitchPort, sent_at: Time) {
        if at.port == PortNo::CONTROLLER
            && let Some(switch) = self.switches.get_mut(&at.dpid)
        {
            switch.frames.note(cx.now, sent_at, cx.settings.measurement.delay_window);
        }
    }

    /// A discovery frame sent at `sent_at` has passed a link.
    pub(crate) fn handle_probe(&mut self, cx: &Context<'_>, link: Link, sent_at: Time) {
        if self.trains.note(cx.now, link.src, sent_at) {
            return;
        }
        let window = cx.settings.measurement.delay_window;
        let half = |at: SwitchPort| self.half_trip(at.dpid);
        let ends = half(link.src).zip(half(link.dst)).map(|(src, dst)| [src, dst]);
        self.links.entry(link).or_default().delay.note(cx.now, sent_at, ends, window);
    }

    /// A switch has sent port counters, or a part of them. Returns when it has read them, if that is known.
    pub(crate) fn handle_port_counters(
        &mut self,
        cx: &Context<'_>,
        dpid: DatapathId,
        ports: &[PortCounters],
    ) -> Option<ReadPeriod> {
        let at = self.done_at(cx.now, dpid);
        let switch = self.switches.get_mut(&dpid);
        let period = switch.map(|switch| {
            switch.asked_at = None;
            ReadPeriod { since: switch.asked_since, until: cx.now }
        });
        for counters in ports {
            let port = SwitchPort::new(dpid, counters.port);
            if cx.topology.port(port).is_some() {
                let meter = self.ports.entry(port).or_default();
                meter.note(at, counters, cx.settings.measurement.smoothing);
            }
        }
        period
    }

    /// Requests the counters of a switch between the usual readings, unless it has not answered yet.
    pub(crate) fn request_counters(&mut self, cx: &mut Context<'_>, dpid: DatapathId) {
        let is_known = cx.topology.switch(dpid).is_some();
        if let Some(switch) =
            self.switches.get_mut(&dpid).filter(|switch| is_known && switch.asked_at.is_none())
        {
            switch.ask(cx, dpid);
        }
    }

    /// Sends due frames. Once an interval, compares the received counters, publishes results and requests new
    /// ones. `probed` are switches to which one more frame costs no write.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>, probed: &BTreeSet<DatapathId>) {
        self.send_frames_out_and_back(cx, probed);
        self.tick_trains(cx);
        let links = u32::try_from(cx.topology.links().len()).unwrap_or(u32::MAX);
        let interval = cx.settings.measurement.poll_interval.max(POLL_TIME_PER_LINK * links);
        if self.polled_at.is_some_and(|at| cx.now.since(at) < interval) {
            return;
        }
        self.polled_at = Some(cx.now);
        self.review(cx, cx.settings.measurement.loss_window.max(interval * 3));
        self.read_ports(cx);
    }

    /// The capacity of a link: as configured, else as measured, else the lowest of its ports' speeds and the rate to which
    /// its sender is shaped.
    pub(crate) fn link_capacity(&self, settings: &Settings, topology: &Topology, link: &Link) -> BitsPerSec {
        if let Some(capacity) = settings.capacities.get(&link.src) {
            return *capacity;
        }
        if let Some(reading) = self.links.get(link).and_then(|meter| meter.capacity) {
            return reading.capacity;
        }
        self.shaping.speed(topology, link)
    }

    /// Begins with what another controller has measured of a link.
    pub(crate) fn recall(&mut self, cx: &mut Context<'_>, measured: Option<LinkFact>) {
        let Some(LinkFact { link, delay, capacity, .. }) = measured else { return };
        let Some(known) = cx.topology.state_at(link.src) else { return };
        let meter = self.links.entry(link).or_default();
        meter.capacity = meter.capacity.or(capacity.map(|capacity| CapacityReading { capacity, at: cx.now }));
        let capacity = self.link_capacity(cx.settings, cx.topology, &link);
        let state = LinkState { capacity, delay: known.delay.or(delay), ..known };
        cx.topology.set_link_state(link.src, state);
    }

    /// The measurements of a link.
    pub(crate) fn of(&self, link: &Link) -> LinkReading {
        let meter = self.links.get(link);
        let [src, dst] = [link.src, link.dst].map(|at| self.ports.get(&at).map(Box::as_ref));
        let totals = |port: Option<&PortMeter>| port.map(PortMeter::totals).copied().unwrap_or_default();
        let (sent, received) = (totals(src), totals(dst));
        LinkReading {
            delay: meter.and_then(|meter| meter.delay.reading()),
            load: src.and_then(PortMeter::load),
            loss: meter.and_then(|meter| meter.loss),
            capacity: meter.and_then(|meter| meter.capacity),
            capacity_asked_at: meter.and_then(|meter| meter.capacity_asked_at),
            sent,
            dropped: sent.dropped_out.saturating_add(received.dropped_in),
            errors: sent.errors.saturating_add(received.errors),
        }
    }

    /// The delay of a link, if it is known.
    pub(crate) fn delay(&self, link: &Link) -> Option<DelayReading> {
        self.links.get(link)?.delay.reading()
    }

    /// The load of a link; none while it is not known.
    pub(crate) fn load(&self, link: &Link) -> BitsPerSec {
        let reading = self.ports.get(&link.src).and_then(|port| port.load());
        reading.map(|reading| reading.load).unwrap_or_default()
    }

    /// Half a round trip of a frame; of an echo while no frame has returned.
    fn half_trip(&self, dpid: DatapathId) -> Option<OneWayDelay> {
        half_trip(&self.switches, dpid)
    }

    /// When a switch did what it has just reported.
    fn done_at(&self, now: Time, dpid: DatapathId) -> Time {
        let echo = self.switches.get(&dpid).and_then(|switch| switch.echoes.half());
        now - echo.map(OneWayDelay::median).unwrap_or_default()
    }

    /// Reads all switches at the same time, so that counts of both ends of a link are comparable.
    fn read_ports(&mut self, cx: &mut Context<'_>) {
        let switches: Vec<_> = cx.topology.switches().map(braid_topology::Switch::dpid).collect();
        for dpid in switches {
            let meter = self.switches.entry(dpid).or_default();
            if meter.asked_at.is_none_or(|at| cx.now.since(at) >= REPLY_TIMEOUT) {
                meter.ask(cx, dpid);
            }
        }
    }

    /// Sends each switch a frame that it returns, with the interval and jitter of discovery frames.
    ///
    /// Where these leave together, such a frame goes with them: up to half an interval early, and as more of them will
    /// follow, the next one waits for twice as long.
    fn send_frames_out_and_back(&mut self, cx: &mut Context<'_>, probed: &BTreeSet<DatapathId>) {
        let switches = u32::try_from(self.switches.len()).unwrap_or(u32::MAX);
        let interval = cx.settings.probe_interval.max(FRAME_TIME_PER_SWITCH * switches);
        for (dpid, switch) in &mut self.switches {
            let goes_along = cx.now.since(switch.frame_at) >= interval / 2 && probed.contains(dpid);
            if switch.next_frame <= cx.now || goes_along {
                let wait = if goes_along { interval * 2 } else { interval };
                switch.send_frame(cx, *dpid, wait);
            }
        }
    }
}

fn half_trip(switches: &BTreeMap<DatapathId, SwitchMeter>, dpid: DatapathId) -> Option<OneWayDelay> {
    let switch = switches.get(&dpid)?;
    switch.frames.half().or_else(|| switch.echoes.half())
}
