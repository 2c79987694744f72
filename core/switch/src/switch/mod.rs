//! The switch: passes packets to the pipeline and messages to the machines, and owns nothing else.

mod requests;

use std::time::Duration;

use braid_openflow::{Bytes, Echo, Hello, Message, Xid};
use braid_types::{DatapathId, PortNo, Time};

use crate::connections::{ConnectionId, Connections};
use crate::environment::Environment;
use crate::packets::Packet;
use crate::pipeline::Pipeline;
use crate::ports::{PortCounters, PortDescription};

/// The accuracy of flow time-outs.
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
    /// Keeps strangers from choosing which flows share a place in tables; any unpredictable value.
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
    /// A switch without ports, flows and groups; it drops everything.
    pub fn new(identity: Identity) -> Self {
        let (connections, pipeline) = (Connections::default(), Pipeline::default());
        Self { identity, connections, pipeline, next_tick: Time::ZERO }
    }

    /// The pipeline, and the environment in which it handles an event.
    fn at(&mut self, now: Time) -> (&mut Pipeline, Environment<'_>) {
        let Self { identity, connections, pipeline, .. } = self;
        (pipeline, Environment { now, identity, controllers: connections })
    }

    /// Handles a frame that arrived at a port. [`Self::poll_packets`] returns the frames that leave.
    pub fn handle_packet(&mut self, now: Time, in_port: PortNo, packet: Packet) {
        let (pipeline, mut env) = self.at(now);
        pipeline.handle_packet(&mut env, in_port, packet);
    }

    /// The departing frames in order, with their ports.
    pub fn poll_packets(&mut self) -> std::vec::Drain<'_, (PortNo, Packet)> {
        self.pipeline.ports.poll_packets()
    }

    /// The time to call [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Time {
        self.pipeline.poll_timeout().map_or(self.next_tick, |next| next.min(self.next_tick))
    }

    /// Sends due held packets, probes and BFD's packets, and removes expired flows.
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
    /// Adds or changes a port for an interface, and notifies controllers.
    pub fn set_port(&mut self, now: Time, number: PortNo, description: PortDescription) {
        let (pipeline, mut env) = self.at(now);
        pipeline.ports.set(&mut env, number, description);
    }

    /// Removes the port of an interface.
    pub fn remove_port(&mut self, number: PortNo) {
        // Nothing here depends on the time.
        let (pipeline, mut env) = self.at(Time::ZERO);
        pipeline.ports.remove(&mut env, number);
    }

    /// Counts frames that were lost for want of room before this switch saw them.
    pub fn count_missed(&mut self, number: PortNo, frames: u64) {
        self.pipeline.ports.count_missed(number, frames);
    }

    /// Counts a frame of [`Self::poll_packets`] that its interface refused.
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
    /// Connects a controller, and sends HELLO.
    pub fn connect(&mut self, id: ConnectionId) {
        self.connections.add(id);
        self.connections.reply(id, Xid(0), &Message::Hello(Hello::V1_3));
    }

    /// Asks a controller whether it is there.
    pub fn request_echo(&mut self, id: ConnectionId) {
        self.connections.reply(id, Xid(0), &Message::EchoRequest(Echo { data: Bytes(&[]) }));
    }

    /// Disconnects a controller.
    pub fn disconnect(&mut self, id: ConnectionId) {
        self.connections.remove(id);
    }

    /// The number of bytes that wait to be sent to a controller.
    pub fn unsent(&self, id: ConnectionId) -> usize {
        self.connections.unsent(id)
    }

    /// The bytes to send to a controller; remove those that were sent.
    pub fn poll_bytes(&mut self, id: ConnectionId) -> Option<&mut Vec<u8>> {
        self.connections.output(id)
    }
}
