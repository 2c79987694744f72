//! What is measured of links: delay, load, loss, each with its age.
//!
//! Delays come from discovery frames, frames that a switch sends back, and echoes; load and loss from the counters of ports, which are read once a second.
//! Nothing that falls silent becomes zero: its last reading grows old. [`publish`] decides when the graph hears of it.

mod capacity;
mod counts;
mod delay;
mod loss;
mod publish;
mod settings;
mod window;

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::lldp::LldpProbe;
use braid_topology::Link;
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};

use super::Brain;
use super::discovery::jittered;
use crate::command::{Command, Commands, Target};
use crate::port_counters::PortCounters;
use capacity::{CapacityReading, Trains};
use counts::{LoadReading, PortMeter, Totals};
use delay::{DelayMeter, DelayReading, HalfTrip, RoundTrips};
use loss::{Lag, LossReading, loss};

pub use settings::Measuring;

/// A switch that has not answered is asked again only after this long.
const UNANSWERED: Duration = Duration::from_secs(5);

/// How long a switch may take to read its counters.
const SLACK: Duration = Duration::from_millis(10);

/// The readings of everything that is in the topology.
#[derive(Debug, Default)]
pub(super) struct Measurements {
    switches: BTreeMap<DatapathId, SwitchMeter>,
    ports: BTreeMap<SwitchPort, PortMeter>,
    links: BTreeMap<Link, LinkMeter>,
    polled_at: Option<Time>,
    trains: Trains,
}

#[derive(Debug, Default)]
struct SwitchMeter {
    echoes: RoundTrips,
    /// Of frames, which a switch may handle more slowly than echoes.
    frames: RoundTrips,
    next_frame: Time,
    /// When its counters were asked for, until they come.
    asked_at: Option<Time>,
}

#[derive(Debug, Default)]
struct LinkMeter {
    delay: DelayMeter,
    loss: Option<LossReading>,
    capacity: Option<CapacityReading>,
    /// When it was tried to measure that last, with whatever success.
    capacity_asked_at: Option<Time>,
    published_at: Option<Time>,
}

/// What is known of a link, as far as it was measured.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct LinkReading {
    pub(super) delay: Option<DelayReading>,
    pub(super) load: Option<LoadReading>,
    pub(super) loss: Option<LossReading>,
    pub(super) capacity: Option<CapacityReading>,
    pub(super) capacity_asked_at: Option<Time>,
    /// What left its first port.
    pub(super) sent: Totals,
    /// Packets dropped at either port on their way into the link or out of it.
    pub(super) dropped: u64,
    /// Packets with errors at either port.
    pub(super) errors: u64,
}

impl Measurements {
    /// What is known of a link.
    pub(super) fn of(&self, link: &Link) -> LinkReading {
        let meter = self.links.get(link);
        let (src, dst) = (self.ports.get(&link.src), self.ports.get(&link.dst));
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

    /// Half the way of a frame to a switch and back; of an echo while no frame has come back.
    fn half_trip(&self, dpid: DatapathId) -> Option<HalfTrip> {
        let switch = self.switches.get(&dpid)?;
        switch.frames.half().or_else(|| switch.echoes.half())
    }

    /// When a switch did what it now tells.
    fn done_at(&self, now: Time, dpid: DatapathId) -> Time {
        let echo = self.switches.get(&dpid).and_then(|switch| switch.echoes.half());
        now - echo.map(HalfTrip::usual).unwrap_or_default()
    }

    fn compare_ends(&mut self, link: &Link, window: Duration) {
        let half_trips = [link.src, link.dst].into_iter().filter_map(|at| self.half_trip(at.dpid));
        let half_trips: Duration = half_trips.map(HalfTrip::usual).sum();
        let (Some(src), Some(dst)) = (self.ports.get(&link.src), self.ports.get(&link.dst)) else { return };
        let meter = self.links.entry(*link).or_default();
        let delay = meter.delay.reading().map(|reading| reading.current).unwrap_or_default();
        let slack = half_trips + SLACK;
        meter.loss = loss(&src.sent, &dst.received, Lag { delay, slack }, window).or(meter.loss);
    }
}

impl Brain {
    /// An echo request that was sent to a switch then has come back.
    pub(super) fn on_echo(&mut self, now: Time, dpid: DatapathId, sent_at: Time) {
        if self.topology.switch(dpid).is_some() {
            let window = self.settings.measuring.delay_window;
            self.measured.switches.entry(dpid).or_default().echoes.note(now, sent_at, window);
        }
    }

    /// A frame that a switch was to send back at once has come back.
    pub(super) fn on_returned_probe(&mut self, now: Time, at: SwitchPort, sent_at: Time) {
        if at.port == PortNo::CONTROLLER
            && let Some(switch) = self.measured.switches.get_mut(&at.dpid)
        {
            switch.frames.note(now, sent_at, self.settings.measuring.delay_window);
        }
    }

    /// A discovery frame that was sent then has come through a link.
    pub(super) fn measure_delay(&mut self, now: Time, link: Link, sent_at: Time) {
        if self.measured.trains.note(now, link.src, sent_at) {
            return;
        }
        let window = self.settings.measuring.delay_window;
        let half = |at: SwitchPort| self.measured.half_trip(at.dpid);
        let ends = half(link.src).zip(half(link.dst)).map(|(src, dst)| [src, dst]);
        self.measured.links.entry(link).or_default().delay.note(now, sent_at, ends, window);
    }

    /// A switch has read its ports' counters, or a part of them.
    pub(super) fn on_port_counters(&mut self, now: Time, dpid: DatapathId, ports: &[PortCounters]) {
        let at = self.measured.done_at(now, dpid);
        if let Some(switch) = self.measured.switches.get_mut(&dpid) {
            switch.asked_at = None;
        }
        for counters in ports {
            let port = SwitchPort::new(dpid, counters.port);
            if self.topology.port(port).is_some() {
                let meter = self.measured.ports.entry(port).or_default();
                meter.note(at, counters, self.settings.measuring.smoothing);
            }
        }
    }

    /// Sends what is due; once an interval, asks for counters, compares those that came, and tells the graph.
    pub(super) fn tick_measurements(&mut self, now: Time, out: &mut Commands) {
        self.send_frames_out_and_back(now, out);
        self.tick_trains(now, out);
        let interval = self.settings.measuring.poll_interval;
        if self.measured.polled_at.is_some_and(|at| now.since(at) < interval) {
            return;
        }
        self.measured.polled_at = Some(now);
        self.forget_what_is_gone();
        let links: Vec<_> = self.topology.links().map(|(link, _)| link).collect();
        for link in links {
            self.measured.compare_ends(&link, self.settings.measuring.loss_window);
        }
        self.publish_measurements(now);
        self.read_ports(now, out);
    }

    /// Asks all switches at the same time, so that what both ends of a link have counted compares well.
    fn read_ports(&mut self, now: Time, out: &mut Commands) {
        for switch in self.topology.switches() {
            let meter = self.measured.switches.entry(switch.dpid()).or_default();
            if meter.asked_at.is_none_or(|at| now.since(at) >= UNANSWERED) {
                meter.asked_at = Some(now);
                out.push(Command::ReadPorts { dpid: switch.dpid() });
            }
        }
    }

    /// Sends each switch a frame that comes back at once, with the interval and the jitter of discovery frames.
    fn send_frames_out_and_back(&mut self, now: Time, out: &mut Commands) {
        let due = self.measured.switches.iter_mut().filter(|(_, switch)| switch.next_frame <= now);
        for (dpid, switch) in due {
            let at = SwitchPort::new(*dpid, PortNo::CONTROLLER);
            switch.next_frame = now + jittered(self.settings.probe_interval, at, now);
            let probe = LldpProbe { dpid: at.dpid, port: at.port, sent_at: now };
            let frame = probe.encode(&self.settings.lldp_key, MacAddr::ZERO);
            out.send(at.dpid, Target::Controller, &frame);
        }
    }

    fn forget_what_is_gone(&mut self) {
        let topology = &self.topology;
        self.measured.switches.retain(|dpid, _| topology.switch(*dpid).is_some());
        self.measured.ports.retain(|at, _| topology.port(*at).is_some());
        self.measured.links.retain(|link, _| topology.link_at(link.src) == Some(*link));
    }
}
