//! Connected controllers: roles, asynchronous messages, and bounded output.

use std::collections::BTreeMap;

use braid_openflow::{
    AsyncConfig, ControllerRole, FlowRemovedReasons, MaxLen, Message, PacketInReasons, PortReasons, Xid,
};

/// The identifier of a connected controller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

/// The unread bytes of a controller above which it gets no more notifications.
const MAX_UNREAD: usize = 1 << 20;

/// The connected controllers.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    all: BTreeMap<ConnectionId, Connection>,
    generation: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) role: ControllerRole,
    pub(crate) asynchronous: AsyncConfig,
    pub(crate) miss_send_len: MaxLen,
    out: Vec<u8>,
    next_xid: u32,
}

/// The kind of an asynchronous message, and the bit of the configuration that allows it.
pub(crate) enum Notification {
    PacketIn(PacketInReasons),
    PortStatus(PortReasons),
    FlowRemoved(FlowRemovedReasons),
}

impl Default for Connection {
    fn default() -> Self {
        // OpenFlow 1.3.5 §6.3.5: a slave receives port messages only.
        let packet_in = PacketInReasons::NO_MATCH | PacketInReasons::ACTION | PacketInReasons::INVALID_TTL;
        let ports = PortReasons::ADD | PortReasons::DELETE | PortReasons::MODIFY;
        let removed = FlowRemovedReasons::IDLE_TIMEOUT
            | FlowRemovedReasons::HARD_TIMEOUT
            | FlowRemovedReasons::DELETE
            | FlowRemovedReasons::GROUP_DELETE;
        let asynchronous = AsyncConfig {
            packet_in_mask: [packet_in, PacketInReasons::NONE],
            port_status_mask: [ports, ports],
            flow_removed_mask: [removed, FlowRemovedReasons::NONE],
        };
        let (role, miss_send_len) = (ControllerRole::Equal, MaxLen(128));
        Self { role, asynchronous, miss_send_len, out: Vec::new(), next_xid: 0 }
    }
}

impl Connections {
    pub(crate) fn add(&mut self, id: ConnectionId) {
        self.all.insert(id, Connection::default());
    }

    pub(crate) fn remove(&mut self, id: ConnectionId) {
        self.all.remove(&id);
    }

    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.all.get_mut(&id)
    }

    /// The bytes not yet sent to a controller.
    pub(crate) fn output(&mut self, id: ConnectionId) -> Option<&mut Vec<u8>> {
        self.all.get_mut(&id).map(|connection| &mut connection.out)
    }

    pub(crate) fn unsent(&self, id: ConnectionId) -> usize {
        self.all.get(&id).map_or(0, |connection| connection.out.len())
    }

    pub(crate) fn reply(&mut self, id: ConnectionId, xid: Xid, message: &Message<'_>) {
        if let Some(connection) = self.all.get_mut(&id) {
            // No message is too long: statistics are sent in parts.
            let _ = message.encode(xid, &mut connection.out);
        }
    }

    /// Sends a message to all controllers whose configuration allows it.
    pub(crate) fn notify(&mut self, notification: &Notification, message: &Message<'_>) {
        let wanted = self.all.values_mut().filter(|it| it.wants(notification) && it.out.len() < MAX_UNREAD);
        for connection in wanted {
            connection.next_xid = connection.next_xid.wrapping_add(1);
            let _ = message.encode(Xid(connection.next_xid), &mut connection.out);
        }
    }

    /// Applies a role; `false` if the generation is older than the last one. OpenFlow 1.3.5 §6.3.6.
    pub(crate) fn take_role(&mut self, id: ConnectionId, role: ControllerRole, generation: u64) -> bool {
        if matches!(role, ControllerRole::Master | ControllerRole::Slave) {
            if self.generation.is_some_and(|seen| (generation.wrapping_sub(seen)).cast_signed() < 0) {
                return false;
            }
            self.generation = Some(generation);
        }
        if role == ControllerRole::Master {
            let others = self.all.values_mut().filter(|it| it.role == ControllerRole::Master);
            others.for_each(|other| other.role = ControllerRole::Slave);
        }
        if let Some(connection) = self.all.get_mut(&id).filter(|_| role != ControllerRole::Nochange) {
            connection.role = role;
        }
        true
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.unwrap_or(u64::MAX)
    }
}

impl Connection {
    fn wants(&self, notification: &Notification) -> bool {
        let column = usize::from(self.role == ControllerRole::Slave);
        match notification {
            Notification::PacketIn(reason) => self.asynchronous.packet_in_mask[column].contains(*reason),
            Notification::PortStatus(reason) => self.asynchronous.port_status_mask[column].contains(*reason),
            Notification::FlowRemoved(reason) => {
                self.asynchronous.flow_removed_mask[column].contains(*reason)
            }
        }
    }
}
