//! Netlink commands to the kernel's path managers: endpoints, limits and subflows.

use braid_api::SubflowEnds;

use super::endpoint::{Endpoint, EndpointFlag, EndpointFlags, FLAGS, ID, Limits};
use super::event::Events;
use super::subflow::{Token, encode_end};
use crate::netlink::{Attributes, Family, NetlinkError, Request, Socket, Writer};

const FAMILY: &str = "mptcp_pm";
const VERSION: u8 = 1;

const CMD_ADD_ADDR: u8 = 1;
const CMD_DEL_ADDR: u8 = 2;
const CMD_GET_ADDR: u8 = 3;
const CMD_SET_LIMITS: u8 = 5;
const CMD_GET_LIMITS: u8 = 6;
const CMD_SET_FLAGS: u8 = 7;
const CMD_SUBFLOW_CREATE: u8 = 10;
const CMD_SUBFLOW_DESTROY: u8 = 11;

const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
const ATTR_TOKEN: u16 = 4;
const ATTR_ADDR_REMOTE: u16 = 6;

/// Access to the path managers of the calling thread's network namespace.
#[derive(Debug)]
pub struct PathManager {
    socket: Socket,
    family: Family,
}

impl PathManager {
    /// Opens a netlink socket to the path managers.
    ///
    /// # Errors
    ///
    /// The kernel has no MPTCP.
    pub fn open() -> Result<Self, NetlinkError> {
        let mut socket = Socket::open()?;
        let family = Family::find(&mut socket, FAMILY)?;
        Ok(Self { socket, family })
    }

    /// The events of connections from now on.
    ///
    /// # Errors
    ///
    /// This process lacks CAP_NET_ADMIN.
    pub fn events(&self) -> Result<Events, NetlinkError> {
        let socket = Socket::open()?;
        socket.listen(&self.family, "mptcp_pm_events")?;
        Ok(Events::new(socket, self.family.id))
    }

    /// The endpoints of the kernel's path manager.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn endpoints(&mut self) -> Result<Vec<Endpoint>, NetlinkError> {
        let mut endpoints = Vec::new();
        let request = Request { all: true, ..self.request(CMD_GET_ADDR, Writer::default()) };
        self.socket.ask("list endpoints", &request, |attributes| {
            let endpoint = attributes.find(ATTR_ADDR).and_then(|it| Endpoint::decode(it.nested()));
            endpoints.push(endpoint.ok_or(NetlinkError::Answer("endpoint"))?);
            Ok(())
        })?;
        Ok(endpoints)
    }

    /// Adds an endpoint.
    ///
    /// # Errors
    ///
    /// The endpoint exists, there are too many, or this process lacks the privilege.
    pub fn add_endpoint(&mut self, endpoint: &Endpoint) -> Result<(), NetlinkError> {
        self.order("add the endpoint", CMD_ADD_ADDR, Writer::default().nested(ATTR_ADDR, &endpoint.encode()))
    }

    /// Removes endpoint `id` and its subflows.
    ///
    /// # Errors
    ///
    /// There is no such endpoint, or this process lacks the privilege.
    pub fn remove_endpoint(&mut self, id: u8) -> Result<(), NetlinkError> {
        let address = Writer::default().u8(ID, id);
        self.order("remove the endpoint", CMD_DEL_ADDR, Writer::default().nested(ATTR_ADDR, &address))
    }

    /// The limits of the kernel's path manager.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn limits(&mut self) -> Result<Limits, NetlinkError> {
        let mut limits = None;
        let request = self.request(CMD_GET_LIMITS, Writer::default());
        self.socket.ask("tell its limits", &request, |attributes| {
            limits = decode_limits(attributes);
            Ok(())
        })?;
        limits.ok_or(NetlinkError::Answer("limits"))
    }

    /// Sets both limits; the kernel allows up to 8.
    ///
    /// # Errors
    ///
    /// The limits are too high, or this process lacks the privilege.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), NetlinkError> {
        let attributes = Writer::default().u32(ATTR_RCV_ADD_ADDRS, limits.accepted_addresses);
        self.order("set the limits", CMD_SET_LIMITS, attributes.u32(ATTR_SUBFLOWS, limits.subflows))
    }

    /// Opens a subflow of a connection that user space manages.
    ///
    /// `id` is the id of its local address, from 1, unique for each address and port of a connection.
    ///
    /// # Errors
    ///
    /// There is no such connection or address, or the port is taken.
    pub fn open_subflow(&mut self, token: Token, ends: SubflowEnds, id: u8) -> Result<(), NetlinkError> {
        self.order("open the subflow", CMD_SUBFLOW_CREATE, encode_subflow(token, ends, Some(id)))
    }

    /// Closes a subflow of a connection that user space manages.
    ///
    /// # Errors
    ///
    /// There is no such connection or subflow.
    pub fn close_subflow(&mut self, token: Token, ends: SubflowEnds) -> Result<(), NetlinkError> {
        self.order("close the subflow", CMD_SUBFLOW_DESTROY, encode_subflow(token, ends, None))
    }

    /// Lets a subflow of a connection that user space manages carry data only while there is no other, or always again.
    /// The peer is told, and does the same (MP_PRIO).
    ///
    /// # Errors
    ///
    /// There is no such connection or subflow.
    pub fn set_backup(
        &mut self,
        token: Token,
        ends: SubflowEnds,
        is_backup: bool,
    ) -> Result<(), NetlinkError> {
        let flags: EndpointFlags = is_backup.then_some(EndpointFlag::Backup).into_iter().collect();
        let local = encode_end(ends.local, None).u32(FLAGS, flags.0);
        let attributes = Writer::default()
            .u32(ATTR_TOKEN, token.0)
            .nested(ATTR_ADDR, &local)
            .nested(ATTR_ADDR_REMOTE, &encode_end(ends.remote, None));
        self.order("set the subflow's priority", CMD_SET_FLAGS, attributes)
    }

    /// Sets the flags of an endpoint, which apply to the subflows that there are as well.
    ///
    /// # Errors
    ///
    /// There is no such endpoint, or this process lacks the privilege.
    pub fn set_endpoint_flags(&mut self, id: u8, flags: EndpointFlags) -> Result<(), NetlinkError> {
        let address = Writer::default().u8(ID, id).u32(FLAGS, flags.0);
        self.order("set the endpoint's flags", CMD_SET_FLAGS, Writer::default().nested(ATTR_ADDR, &address))
    }

    fn order(&mut self, what: &'static str, command: u8, attributes: Writer) -> Result<(), NetlinkError> {
        let request = self.request(command, attributes);
        self.socket.ask(what, &request, |_| Ok(()))
    }

    fn request(&self, command: u8, attributes: Writer) -> Request {
        Request { family: self.family.id, command, version: VERSION, all: false, attributes }
    }
}

fn decode_limits(attributes: Attributes<'_>) -> Option<Limits> {
    Some(Limits {
        subflows: attributes.find(ATTR_SUBFLOWS)?.u32()?,
        accepted_addresses: attributes.find(ATTR_RCV_ADD_ADDRS)?.u32()?,
    })
}

fn encode_subflow(token: Token, ends: SubflowEnds, id: Option<u8>) -> Writer {
    Writer::default()
        .u32(ATTR_TOKEN, token.0)
        .nested(ATTR_ADDR, &encode_end(ends.local, id))
        .nested(ATTR_ADDR_REMOTE, &encode_end(ends.remote, None))
}
