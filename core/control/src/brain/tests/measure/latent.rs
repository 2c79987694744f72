//! Switches with latent OpenFlow connections and links, and packet counters, in virtual time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SplitMix64, SwitchPort, Time};

use super::HOST_PORT;
use crate::brain::Brain;
use crate::command::{Command, Commands, Target};
use crate::event::{Event, PortStatus, ShapedPort, SwitchPorts};
use crate::port_counters::PortCounters;
use crate::settings::Settings;
use crate::view::LinkView;

/// Bytes of every packet.
pub(super) const PACKET: u64 = 1_250;
const TICK: Duration = Duration::from_millis(100);

pub(super) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// An OpenFlow connection: the delay of messages to the switch and from it.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    pub(super) down: Duration,
    pub(super) up: Duration,
}

/// Packets a second into a link from some time on, and the share that is lost.
#[derive(Clone, Copy)]
struct Traffic {
    since: Time,
    rate: f64,
    loss: f64,
}

pub(super) struct Latent {
    pub(super) brain: Brain,
    pub(super) now: Time,
    /// Commands from the brain, except those that measure.
    pub(super) sent: Vec<Command>,
    /// Switches that do not answer requests for counters.
    pub(super) mute: BTreeSet<DatapathId>,
    /// Whether switches report each port in its own message.
    pub(super) in_parts: bool,
    /// The time in which switches send a given packet, or pass one on to the controller.
    pub(super) handling: Duration,
    /// Whether switches return no frames.
    pub(super) no_returns: bool,
    /// The most extra delay that some messages get.
    pub(super) jitter: Duration,
    random: SplitMix64,
    sequence: u64,
    coming: BTreeMap<(Time, u64), Event<'static>>,
    channels: BTreeMap<DatapathId, Channel>,
    far_ends: BTreeMap<SwitchPort, (SwitchPort, Duration)>,
    /// The capacity of limited links, and when each is idle again.
    rates: BTreeMap<SwitchPort, (BitsPerSec, Time)>,
    traffic: BTreeMap<SwitchPort, Vec<Traffic>>,
    /// When each switch started to count.
    started: BTreeMap<DatapathId, Time>,
}

impl Latent {
    /// Switches 1, 2, … with these connections, and links with these delays. Port `b` of switch `a` leads to
    /// switch `b`.
    pub(super) fn new(settings: Settings, channels: &[Channel], links: &[(u64, u64, Duration)]) -> Self {
        let mut network = Self {
            brain: Brain::new(settings),
            now: Time::from_millis(1_000),
            sent: Vec::new(),
            mute: BTreeSet::new(),
            in_parts: false,
            handling: Duration::ZERO,
            no_returns: false,
            jitter: Duration::ZERO,
            random: SplitMix64::new(1),
            sequence: 0,
            coming: BTreeMap::new(),
            channels: (1..).map(DatapathId).zip(channels.iter().copied()).collect(),
            far_ends: BTreeMap::new(),
            rates: BTreeMap::new(),
            traffic: BTreeMap::new(),
            started: BTreeMap::new(),
        };
        links.iter().for_each(|(a, b, delay)| network.set_delay(*a, *b, *delay));
        let switches: Vec<_> = network.channels.keys().copied().collect();
        for dpid in switches {
            network.started.insert(dpid, network.now);
            let host = SwitchPort::new(dpid, HOST_PORT);
            let ports = network.ports(dpid).into_iter().chain([host]).map(status).collect();
            network.plan(
                network.now,
                Event::SwitchUp(SwitchPorts {
                    dpid,
                    tables: 254,
                    description: String::new(),
                    ports,
                    failover_groups: 0,
                    select_groups: 0,
                    installed: None,
                }),
            );
        }
        network.plan(network.now, Event::Tick);
        network.plan_echoes();
        network
    }

    pub(super) fn with_jitter(mut self, jitter: Duration, seed: u64) -> Self {
        (self.jitter, self.random) = (jitter, SplitMix64::new(seed));
        self
    }

    /// Sets the delay of both directions of a link.
    pub(super) fn set_delay(&mut self, a: u64, b: u64, delay: Duration) {
        let ends = [super::port(a, b), super::port(b, a)];
        self.far_ends.insert(ends[0], (ends[1], delay));
        self.far_ends.insert(ends[1], (ends[0], delay));
    }

    /// From now on, `a` sends packets to `b` at this rate, and this share of them is lost.
    pub(super) fn send(&mut self, a: u64, b: u64, rate: f64, loss: f64) {
        let traffic = Traffic { since: self.now, rate, loss };
        self.traffic.entry(super::port(a, b)).or_default().push(traffic);
    }

    /// Restarts the counters of a switch.
    pub(super) fn restart_counters(&mut self, number: u64) {
        self.started.insert(DatapathId(number), self.now);
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some(next) = self.coming.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((at, _), event) = next.remove_entry();
            self.now = at;
            self.tell(&event);
            if event == Event::Tick {
                self.plan(at + TICK, Event::Tick);
                self.plan_echoes();
            }
        }
        self.now = end;
    }

    /// Lets a host send a frame.
    pub(super) fn send_frame(&mut self, host: u64, frame: &[u8]) {
        let (in_port, data) = (HOST_PORT, Cow::Borrowed(frame));
        self.tell(&Event::PacketIn { dpid: DatapathId(host), in_port, table: 0, data });
    }

    fn tell(&mut self, event: &Event<'_>) {
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        commands.iter().for_each(|command| self.carry_out(command, &commands));
    }

    pub(super) fn link(&self, a: u64, b: u64) -> LinkView {
        let found = self.brain.links().into_iter().find(|link| link.src == super::port(a, b));
        found.expect("such a link")
    }

    fn carry_out(&mut self, command: &Command, batch: &Commands) {
        let dpid = command.dpid();
        let done = self.now + self.delayed(self.channels[&dpid].down);
        match command {
            Command::Send { target: Target::Port(port), frame, .. } => {
                let (from, frame) = (SwitchPort::new(dpid, *port), batch.frame(frame));
                let Some((to, delay)) = self.far_ends.get(&from).copied() else { return };
                let sent = self.sent_when_free(done, from, frame);
                self.send_up(sent + delay, to, frame);
            }
            Command::Send { target: Target::Controller, frame, .. } if !self.no_returns => {
                self.send_up(done, SwitchPort::new(dpid, PortNo::CONTROLLER), batch.frame(frame));
            }
            Command::Barrier { token, .. } => {
                let at = done + self.delayed(self.channels[&dpid].up);
                self.plan(at, Event::Barrier { dpid, token: *token });
            }
            Command::ReadPorts { .. } if !self.mute.contains(&dpid) => self.answer_counters(dpid, done),
            Command::ReadPorts { .. } | Command::ReadStreams { .. } | Command::ReadEdge { .. } => {}
            other => self.sent.push(other.clone()),
        }
    }

    /// When a frame has left a link that sends frames one after the other.
    fn sent_when_free(&mut self, at: Time, from: SwitchPort, frame: &[u8]) -> Time {
        let Some((rate, free)) = self.rates.get_mut(&from) else { return at };
        *free = at.max(*free) + Duration::from_secs_f64(frame.len() as f64 * 8.0 / rate.as_f64());
        *free
    }

    /// Sets the capacity of the link from one switch to another.
    pub(super) fn set_rate(&mut self, a: u64, b: u64, rate: u64) {
        self.rates.insert(super::port(a, b), (BitsPerSec(rate), self.now));
    }

    /// A switch reports another speed of a port.
    pub(super) fn set_speed(&mut self, a: u64, b: u64, speed: u64) {
        let at = super::port(a, b);
        let port = PortStatus { speed: BitsPerSec(speed), ..status(at) };
        self.tell(&Event::PortUp { dpid: at.dpid, port });
    }

    /// The switch before this link shapes what enters it to this rate, and no other is shaped.
    pub(super) fn shape(&mut self, a: u64, b: u64, rate: u64) {
        let shaped = ShapedPort { port: super::port(a, b), rate: BitsPerSec(rate) };
        self.tell(&Event::ShapedPorts { ports: vec![shaped] });
    }

    /// Requests a capacity measurement.
    pub(super) fn measure_capacity(&mut self, a: u64, b: u64) {
        self.tell(&Event::MeasureCapacity { src: super::port(a, b) });
    }

    /// Delivers to the controller a packet that a switch had to send.
    fn send_up(&mut self, arrived: Time, at: SwitchPort, frame: &[u8]) {
        let up = self.delayed(self.channels[&at.dpid].up);
        let (in_port, data) = (at.port, Cow::Owned(frame.to_vec()));
        let event = Event::PacketIn { dpid: at.dpid, in_port, table: 0, data };
        self.plan(arrived + self.handling * 2 + up, event);
    }

    fn answer_counters(&mut self, dpid: DatapathId, read_at: Time) {
        let at = read_at + self.delayed(self.channels[&dpid].up);
        let ports: Vec<_> = self.ports(dpid).into_iter().map(|port| self.count(port, read_at)).collect();
        let size = if self.in_parts { 1 } else { ports.len() };
        for part in ports.chunks(size) {
            self.plan(at, Event::PortCounters { dpid, ports: part.to_vec() });
        }
    }

    fn count(&self, at: SwitchPort, now: Time) -> PortCounters {
        let since = self.started[&at.dpid];
        let (from, delay) = self.far_ends[&at];
        let between = |src, since, until, kept| self.sent(src, until, kept) - self.sent(src, since, kept);
        let out = between(at, since, now, false);
        let lost_or_not = between(from, since - delay, now - delay, true);
        PortCounters {
            port: at.port,
            counting: now.since(since),
            packets_in: Some(lost_or_not),
            packets_out: Some(out),
            bytes_out: Some(out * PACKET),
            ..PortCounters::default()
        }
    }

    /// Packets sent into a link until then; without lost ones if `kept`.
    fn sent(&self, src: SwitchPort, until: Time, kept: bool) -> u64 {
        let traffic = self.traffic.get(&src).map(Vec::as_slice).unwrap_or_default();
        let ends = traffic.iter().skip(1).map(|next| next.since).chain([until]);
        let packets = traffic.iter().zip(ends).map(|(part, end)| {
            let seconds = end.min(until).since(part.since).as_secs_f64();
            seconds * part.rate * if kept { 1.0 - part.loss } else { 1.0 }
        });
        packets.sum::<f64>() as u64
    }

    fn plan_echoes(&mut self) {
        if !(self.now.as_nanos() / 1_000_000).is_multiple_of(1_000) {
            return;
        }
        for (dpid, Channel { down, up }) in self.channels.clone() {
            let at = self.now + self.delayed(down) + self.delayed(up);
            self.plan(at, Event::Echo { dpid, sent_at: self.now });
        }
    }

    fn plan(&mut self, at: Time, event: Event<'static>) {
        self.sequence += 1;
        self.coming.insert((at, self.sequence), event);
    }

    fn ports(&self, dpid: DatapathId) -> Vec<SwitchPort> {
        self.far_ends.keys().filter(|at| at.dpid == dpid).copied().collect()
    }

    /// The delay of a message; three of ten have extra delay.
    fn delayed(&mut self, duration: Duration) -> Duration {
        let waits = self.random.next_f64() < 0.3;
        duration + if waits { self.jitter.mul_f64(self.random.next_f64()) } else { Duration::ZERO }
    }
}

fn status(at: SwitchPort) -> PortStatus {
    let mac = MacAddr::from_u64((at.dpid.0 << 16) + u64::from(at.port.0));
    PortStatus {
        port: PortNo(at.port.0),
        mac,
        name: at.to_string(),
        up: true,
        speed: BitsPerSec(100_000_000),
    }
}
