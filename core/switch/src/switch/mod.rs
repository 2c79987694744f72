//! The switch: it passes packets to the pipeline, messages to the machines, and owns nothing else.

mod requests;

use std::time::Duration;

use braid_openflow::Xid;
use braid_openflow::{Hello, Message};
use braid_types::{DatapathId, PortNo, Time};

use crate::connections::{ConnectionId, Connections};
use crate::environment::Environment;
use crate::packets::Packet;
use crate::pipeline::Pipeline;
use crate::ports::{PortCounters, PortDescription};

/// How exactly flows time out.
const TICK: Duration = Duration::from_millis(500);

/// The identity of a switch, as controllers see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Its datapath id.
    pub dpid: DatapathId,
    /// A name for people, of at most 255 bytes.
    pub name: String,
    /// Its version, of at most 255 bytes.
    pub version: String,
    /// Keeps strangers from choosing which flows share a place in tables; anything unpredictable.
    pub seed: u64,
}

/// An OpenFlow 1.3 switch. Performs no I/O.
///
/// After any `handle_*`, drain [`Self::poll_packets`] and [`Self::poll_bytes`], then ask [`Self::poll_timeout`].
#[derive(Debug)]
pub struct Switch {
    identity: Identity,
    connections: Connections,
    pipeline: Pipeline,
    next_tick: Time,
}

impl Switch {
    /// One without ports, flows and groups; it drops everything.
    pub fn new(identity: Identity) -> Self {
        let (connections, pipeline) = (Connections::default(), Pipeline::default());
        Self { identity, connections, pipeline, next_tick: Time::ZERO }
    }

    /// The pipeline, and the environment in which it handles an event.
    fn at(&mut self, now: Time) -> (&mut Pipeline, Environment<'_>) {
        let Self { identity, connections, pipeline, .. } = self;
        (pipeline, Environment { now, identity, controllers: connections })
    }

    /// A frame came in by a port. [`Self::poll_packets`] gives what leaves for it.
    pub fn handle_packet(&mut self, now: Time, in_port: PortNo, packet: Packet) {
        let (pipeline, mut env) = self.at(now);
        pipeline.handle_packet(&mut env, in_port, packet);
    }

    /// The frames that are to be sent, and by which ports, in order.
    pub fn poll_packets(&mut self) -> std::vec::Drain<'_, (PortNo, Packet)> {
        self.pipeline.ports.poll_packets()
    }

    /// When to call [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Time {
        self.pipeline.poll_timeout().map_or(self.next_tick, |next| next.min(self.next_tick))
    }

    /// Sends held packets and probes that are due, and ends flows whose time is over.
    pub fn handle_timeout(&mut self, now: Time) {
        let is_tick = self.next_tick <= now;
        if is_tick {
            self.next_tick = now + TICK;
        }
        let (pipeline, mut env) = self.at(now);
        pipeline.handle_timeout(&mut env);
        if is_tick {
            pipeline.flows.expire(&mut env);
        }
    }
}

/// Ports.
impl Switch {
    /// An interface is there, or has changed; controllers are told.
    pub fn set_port(&mut self, now: Time, number: PortNo, description: PortDescription) {
        let (pipeline, mut env) = self.at(now);
        pipeline.ports.set(&mut env, number, description);
    }

    /// An interface has gone.
    pub fn remove_port(&mut self, number: PortNo) {
        // Nothing that follows depends on the time.
        let (pipeline, mut env) = self.at(Time::ZERO);
        pipeline.ports.remove(&mut env, number);
    }

    /// Frames came that there was no room for, before this switch saw them.
    pub fn count_missed(&mut self, number: PortNo, frames: u64) {
        self.pipeline.ports.count_missed(number, frames);
    }

    /// A frame of [`Self::poll_packets`] was not taken by its interface.
    pub fn count_refused(&mut self, number: PortNo, bytes: u64) {
        self.pipeline.ports.count_refused(number, bytes);
    }

    /// The counters of a port.
    pub fn port_counters(&self, number: PortNo) -> Option<PortCounters> {
        self.pipeline.ports.counters(number)
    }
}

/// Controllers.
impl Switch {
    /// A controller connects: it is greeted.
    pub fn connect(&mut self, id: ConnectionId) {
        self.connections.add(id);
        self.connections.reply(id, Xid(0), &Message::Hello(Hello::V1_3));
    }

    /// A controller has gone.
    pub fn disconnect(&mut self, id: ConnectionId) {
        self.connections.remove(id);
    }

    /// The bytes to send to a controller; remove those that were sent.
    pub fn poll_bytes(&mut self, id: ConnectionId) -> Option<&mut Vec<u8>> {
        self.connections.output(id)
    }
}
