//! A switch that knows who its master is, over all its connections.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use braid_openflow::{
    BadRequestCode, Bytes, ControllerRole, ErrorCode, ErrorMsg, Hello, List, Message, ReplyBody, RequestBody,
    Role, RoleRequestFailedCode, Xid,
};

use crate::support::{Switch, features, port, port_desc, reply};

/// A switch: what it is asked for, over all its connections.
#[derive(Clone)]
pub(super) struct FakeSwitch {
    pub(super) dpid: u64,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
pub(super) struct Seen {
    generation: Option<u64>,
    /// The connection that is master.
    pub(super) master: Option<usize>,
    /// The term and connection of each rule that was written by the master.
    written: Vec<(u64, usize)>,
    /// Connections that have ended.
    pub(super) ended: Vec<usize>,
}

impl FakeSwitch {
    pub(super) fn new(dpid: u64) -> Self {
        Self { dpid, seen: Arc::default() }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The term in which the last rule was written, and the connection.
    pub(super) fn last(&self) -> Option<(u64, usize)> {
        self.seen().written.last().copied()
    }

    /// Connects to a controller, and obeys it until it closes.
    pub(super) fn obey(&self, to: SocketAddr, connection: usize) {
        self.obey_over(TcpStream::connect(to).expect("OpenFlow port"), connection);
    }

    pub(super) fn obey_over(&self, stream: TcpStream, connection: usize) {
        let own = self.clone();
        let mut switch = Switch::over(stream);
        thread::spawn(move || {
            switch.send(&Message::Hello(Hello::V1_3));
            while let Some(bytes) = switch.receive() {
                let (xid, message) = Message::decode(&bytes).expect("valid message");
                own.answer(&mut switch, connection, xid, &message);
            }
            own.seen().ended.push(connection);
        });
    }

    fn answer(&self, switch: &mut Switch, connection: usize, xid: Xid, message: &Message<'_>) {
        match message {
            Message::FeaturesRequest => switch.reply(xid, &Message::FeaturesReply(features(self.dpid))),
            Message::EchoRequest(echo) => switch.reply(xid, &Message::EchoReply(*echo)),
            Message::BarrierRequest => switch.reply(xid, &Message::BarrierReply),
            Message::RoleRequest(role) => match self.change_role(connection, *role) {
                Ok(role) => switch.reply(xid, &Message::RoleReply(role)),
                Err(error) => refuse(switch, xid, error),
            },
            Message::MultipartRequest(request) => match request.body {
                RequestBody::PortDesc => switch.reply(xid, &port_desc(&[port(1), port(2)])),
                RequestBody::GroupDesc => switch.reply(xid, &reply(ReplyBody::GroupDesc(List::EMPTY))),
                RequestBody::Flow(_) => switch.reply(xid, &reply(ReplyBody::Flow(List::EMPTY))),
                _ => {}
            },
            Message::FlowMod(_) => self.write(switch, connection, xid),
            _ => {}
        }
    }

    fn write(&self, switch: &mut Switch, connection: usize, xid: Xid) {
        let mut seen = self.seen();
        match (seen.master, seen.generation) {
            (Some(master), Some(generation)) if master == connection => {
                seen.written.push((generation, connection));
            }
            _ => refuse(switch, xid, ErrorCode::BadRequest(BadRequestCode::IsSlave)),
        }
    }

    /// The role after a request for one. OpenFlow 1.3.5 §6.3.6.
    fn change_role(&self, connection: usize, asked: Role) -> Result<Role, ErrorCode> {
        let mut seen = self.seen();
        if asked.role != ControllerRole::Nochange {
            if seen.generation.is_some_and(|newest| asked.generation_id.wrapping_sub(newest) as i64 <= -1) {
                return Err(ErrorCode::RoleRequestFailed(RoleRequestFailedCode::Stale));
            }
            seen.generation = Some(asked.generation_id);
            match asked.role {
                ControllerRole::Master => seen.master = Some(connection),
                _ => seen.master = seen.master.filter(|master| *master != connection),
            }
        }
        let is_master = seen.master == Some(connection);
        let role = if is_master { ControllerRole::Master } else { ControllerRole::Slave };
        Ok(Role { role, generation_id: seen.generation.unwrap_or(u64::MAX) })
    }
}

fn refuse(switch: &mut Switch, xid: Xid, error: ErrorCode) {
    switch.reply(xid, &Message::Error(ErrorMsg { error, data: Bytes(&[]) }));
}
