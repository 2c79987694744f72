//! The pipeline: the passage of a packet through tables, groups and ports.

mod groups;
mod packet_too_big;
mod probes;
mod tunnels;

use std::sync::Arc;

use braid_openflow::{
    BadRequestCode, BufferId, Bytes, ErrorCode, FlowMod, Match, MaxLen, Message, OxmField, PacketIn,
    PacketInReason, PacketInReasons, PacketOut, TableId,
};
use braid_types::{PortNo, Time};

use crate::action::{Act, acts};
use crate::connections::Notification;
use crate::environment::Environment;
use crate::flows::{Entry, FlowTables};
use crate::groups::{Groups, MAX_DEPTH};
use crate::packets::{Packet, PacketContext, key, rewrite};
use crate::ports::Ports;

/// The greatest number of packet bytes in a message, which has at most 64 KiB: longer ones are cut.
const MAX_PACKET_IN: usize = 65_000;

/// The tables, groups and ports of a switch.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) flows: FlowTables,
    pub(crate) groups: Groups,
    pub(crate) ports: Ports,
}

impl Pipeline {
    /// Handles a frame that arrived at a port.
    pub(crate) fn handle_packet(&mut self, env: &mut Environment<'_>, in_port: PortNo, packet: Packet) {
        if !self.ports.receive(in_port, &packet)
            || self.ports.take_bfd(env, in_port, &packet.data)
            || self.take_probe(env, in_port, &packet.data)
        {
            return;
        }
        self.ports.count_arrival(in_port, &packet);
        self.through_tables(env, PacketContext::new(in_port, packet));
    }

    /// Handles a controller's packet-out.
    pub(crate) fn handle_packet_out(
        &mut self,
        env: &mut Environment<'_>,
        out: &PacketOut<'_>,
    ) -> Result<(), ErrorCode> {
        if out.buffer_id != BufferId::NO_BUFFER {
            return Err(ErrorCode::BadRequest(BadRequestCode::BufferUnknown));
        }
        if out.in_port != PortNo::CONTROLLER && !self.ports.contains(out.in_port) {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadPort));
        }
        let acts = acts(out.actions)?;
        let mut context = PacketContext::new(out.in_port, Packet::complete(out.data.to_vec()));
        self.run(env, &mut context, &acts);
        Ok(())
    }

    /// Handles a controller's change of flows; `message` holds the bytes of `flow_mod`.
    pub(crate) fn handle_flow_mod(
        &mut self,
        env: &mut Environment<'_>,
        flow_mod: &FlowMod<'_>,
        message: &[u8],
    ) -> Result<(), ErrorCode> {
        self.flows.handle_flow_mod(env, flow_mod, message, &self.groups)
    }

    /// The time at which a held packet, a probe or BFD is due.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.groups.poll_timeout().into_iter().chain(self.ports.poll_timeout()).min()
    }

    /// Sends held packets, probes and BFD's packets that are due.
    pub(crate) fn handle_timeout(&mut self, env: &mut Environment<'_>) {
        self.ports.handle_timeout(env);
        for group in self.groups.expire_held(env.now) {
            self.release(env, group);
        }
        self.send_probes(env);
    }

    fn through_tables(&mut self, env: &mut Environment<'_>, mut context: PacketContext) {
        let mut next = Some(TableId(0));
        while let Some(table) = next {
            let bytes = context.bytes();
            let Some(entry) = self.flows.lookup(table, &context.key) else { return };
            entry.count(env.now, bytes);
            let hit = Hit::new(entry);
            context.table = table;
            (context.cookie, context.reason) = (entry.cookie, reason(entry.priority));
            self.execute(env, &mut context, &hit);
            next = hit.goto;
        }
        if !context.set.is_empty() {
            let acts: Vec<_> = context.set.acts().collect();
            context.last = true;
            self.run(env, &mut context, &acts);
        }
    }

    /// Executes the instructions of a flow.
    fn execute(&mut self, env: &mut Environment<'_>, context: &mut PacketContext, hit: &Hit) {
        context.last = hit.goto.is_none() && hit.write.is_empty() && (hit.clear || context.set.is_empty());
        self.run(env, context, &hit.apply);
        if hit.clear {
            context.set.clear();
        }
        context.set.write(&hit.write);
        if let Some((value, mask)) = hit.metadata {
            let old = context.key.get(key::METADATA);
            context.key.set(key::METADATA, old & !mask | value & mask);
        }
    }

    fn run(&mut self, env: &mut Environment<'_>, context: &mut PacketContext, acts: &[Act]) {
        let last = context.last;
        for (act, left) in acts.iter().zip((0..acts.len()).rev()) {
            context.last = last && left == 0;
            match act {
                Act::Output { port, max_len } => self.output(env, context, *port, *max_len),
                Act::Group(group) => self.through_group(env, context, *group),
                change => {
                    if !rewrite::apply(change, &mut context.packet, &context.key, &context.layout) {
                        context.reason = PacketInReason::InvalidTtl;
                        self.send_to_controllers(env, context, MaxLen(128));
                        break;
                    }
                    context.update(change);
                }
            }
        }
        context.last = last;
    }

    fn output(
        &mut self,
        env: &mut Environment<'_>,
        context: &mut PacketContext,
        port: PortNo,
        max_len: MaxLen,
    ) {
        match port {
            PortNo::CONTROLLER => self.send_to_controllers(env, context, max_len),
            PortNo::IN_PORT => self.send(env.now, context.in_port, context),
            PortNo::TABLE if context.depth < MAX_DEPTH => {
                let mut again = PacketContext::new(context.in_port, context.take_packet());
                again.depth = context.depth + 1;
                self.through_tables(env, again);
            }
            PortNo::ALL | PortNo::FLOOD => self.flood(env.now, context),
            // A packet does not leave by its ingress port, unless the reserved port IN_PORT says so.
            port if port != context.in_port => self.send(env.now, port, context),
            _ => {}
        }
    }

    fn flood(&mut self, now: Time, context: &mut PacketContext) {
        let ports = self.ports.others(context.in_port);
        let last = std::mem::replace(&mut context.last, false);
        context.is_original = false;
        ports.into_iter().for_each(|port| self.send(now, port, context));
        context.last = last;
    }

    fn send(&mut self, now: Time, port: PortNo, context: &mut PacketContext) {
        if let Err(too_big) = self.ports.send(now, port, context) {
            self.send_too_big(now, port, context, too_big.mtu);
        }
    }

    fn send_to_controllers(&self, env: &mut Environment<'_>, context: &PacketContext, max_len: MaxLen) {
        if !self.ports.allows_packet_in(context.in_port) {
            return;
        }
        let mut packet = context.packet.clone();
        packet.finish_checksum();
        let most = if max_len == MaxLen::NO_BUFFER { usize::MAX } else { usize::from(max_len.0) };
        let fields = [OxmField::InPort(context.in_port)];
        // Packets are not buffered here.
        let data = packet.data.get(..most.min(MAX_PACKET_IN)).unwrap_or(&packet.data);
        let message = Message::PacketIn(PacketIn {
            buffer_id: BufferId::NO_BUFFER,
            total_len: packet.data.len().try_into().unwrap_or(u16::MAX),
            reason: context.reason,
            table_id: context.table,
            cookie: context.cookie,
            matching: Match::new(&fields),
            data: Bytes(data),
        });
        env.controllers.notify(&Notification::PacketIn(bit(context.reason)), &message);
    }
}

/// The instructions of the flow that a packet hit. Its actions are shared: they need no copy, and the tables stay
/// free for their consequences.
struct Hit {
    apply: Arc<[Act]>,
    write: Arc<[Act]>,
    clear: bool,
    /// Value and mask.
    metadata: Option<(u64, u64)>,
    goto: Option<TableId>,
}

impl Hit {
    fn new(entry: &Entry) -> Self {
        let program = &entry.program;
        Self {
            apply: Arc::clone(&program.apply),
            write: Arc::clone(&program.write),
            clear: program.clear,
            metadata: program.metadata,
            goto: program.goto,
        }
    }
}

/// A flow without fields and of priority 0 is the table-miss entry. OpenFlow 1.3.5 §5.4.
const fn reason(priority: u16) -> PacketInReason {
    if priority == 0 { PacketInReason::NoMatch } else { PacketInReason::Action }
}

const fn bit(reason: PacketInReason) -> PacketInReasons {
    match reason {
        PacketInReason::NoMatch => PacketInReasons::NO_MATCH,
        PacketInReason::InvalidTtl => PacketInReasons::INVALID_TTL,
        _ => PacketInReasons::ACTION,
    }
}
