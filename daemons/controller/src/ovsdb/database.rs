//! What was heard of a database, and what is to be said to it. No I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use braid_control::Threat;
use braid_tls::PeerCertificate;
use braid_types::{BitsPerSec, DatapathId, SwitchPort};
use serde_json::Value;
use tokio::sync::Notify;
use tracing::{info, warn};

use super::bridge::MaxBackoff;
use super::json_rpc::{Message, monitor, set_bfd, set_max_backoff, transact};
use super::plan::{BfdState, PortBfd};
use super::tables::{FoundBridge, FoundController, FoundPort, Tables};
use super::{Alarm, OvsdbAddress};
use crate::openflow_tls::OpenFlowTls;

/// What holds for all databases.
#[derive(Clone, Debug)]
pub(super) struct Common {
    /// The certificates for TLS, and which bridges each may have.
    pub(super) tls: Option<OpenFlowTls>,
    /// The port on which switches connect.
    pub(super) openflow_port: u16,
    /// The longest pause between a switch's attempts to connect, where nobody has said another; `None`: as it is.
    pub(super) max_backoff: Option<Duration>,
}

/// A database: its address, its content, and what is to be sent to it.
pub(super) struct Database {
    address: OvsdbAddress,
    common: Common,
    tables: Tables,
    /// The certificate that it has shown.
    certificate: Option<PeerCertificate>,
    out: Vec<u8>,
    /// What was asked for, as long as the database does not show it: it is not asked for again.
    asked: BTreeMap<SwitchPort, PortBfd>,
    /// The same of controllers, by the UUIDs of their rows.
    asked_of_controllers: BTreeMap<String, MaxBackoff>,
    reported: BTreeSet<(DatapathId, String)>,
    /// The rates to which ports were shaped when it was last heard of.
    shaped: Vec<(SwitchPort, BitsPerSec)>,
    last_id: u64,
    filled: Rc<Notify>,
}

impl Database {
    pub(super) fn new(address: OvsdbAddress, common: Common) -> Self {
        Self {
            address,
            common,
            tables: Tables::default(),
            certificate: None,
            out: Vec::new(),
            asked: BTreeMap::new(),
            asked_of_controllers: BTreeMap::new(),
            reported: BTreeSet::new(),
            shaped: Vec::new(),
            last_id: 1,
            filled: Rc::default(),
        }
    }

    /// Where it is, and the certificates for it.
    pub(super) fn endpoint(&self) -> (OvsdbAddress, Option<OpenFlowTls>) {
        (self.address.clone(), self.common.tls.clone())
    }

    /// Its ports, with what it says of their BFD.
    pub(super) fn ports(&self) -> Vec<(SwitchPort, BfdState)> {
        self.own_ports().map(|port| (port.at, port.bfd)).collect()
    }

    /// The rates to which its ports are shaped, as far as they are; also while it does not answer.
    pub(super) fn shaped(&self) -> &[(SwitchPort, BitsPerSec)] {
        &self.shaped
    }

    /// Sets BFD at those of the ports that are of this database.
    pub(super) fn set(&mut self, settings: &[(SwitchPort, PortBfd)]) {
        if settings.is_empty() {
            return;
        }
        let mut operations = Vec::new();
        let ports: BTreeMap<_, _> = self.own_ports().map(|port| (port.at, port)).collect();
        let mut asked = self.asked.clone();
        for (at, bfd) in settings {
            let Some(port) = ports.get(at) else { continue };
            if asked.insert(*at, *bfd) != Some(*bfd) {
                note(&self.address, port, *bfd);
                operations.extend(set_bfd(port.interface, *bfd));
            }
        }
        self.asked = asked;
        self.transact(operations);
    }

    /// Sets `max_backoff` of this controller at the bridges that it serves.
    pub(super) fn set_max_backoff(&mut self, served: &BTreeSet<DatapathId>) {
        let millis = self.common.max_backoff.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        let wanted = MaxBackoff(millis);
        let bridges = self.own_bridges().filter(|bridge| served.contains(&bridge.dpid));
        let controllers = bridges.flat_map(|bridge| bridge.controllers).filter(|it| self.is_own(it));
        let changed = controllers.filter_map(|it| Some((it.uuid.to_owned(), it.row.change(wanted)?)));
        let changed: Vec<_> = changed.collect();
        let mut operations = Vec::new();
        for (uuid, change) in changed {
            if self.asked_of_controllers.get(&uuid) != Some(&change) {
                operations.extend(set_max_backoff(&uuid, change));
                self.asked_of_controllers.insert(uuid, change);
            }
        }
        self.transact(operations);
    }

    /// Alarms about bridges that are this controller's and are set up in a way that does not work, each once a connection.
    pub(super) fn alarms(&mut self, served: &BTreeSet<DatapathId>) -> Vec<Alarm> {
        let of_us = |bridge: &FoundBridge<'_>| {
            served.contains(&bridge.dpid) || bridge.controllers.iter().any(|it| self.is_own(it))
        };
        let bridges = self.own_bridges().filter(of_us);
        let found: BTreeSet<_> =
            bridges.filter_map(|bridge| Some((bridge.dpid, bridge.settings.problem()?))).collect();
        let new = found.difference(&self.reported).map(|(dpid, why)| Alarm {
            database: self.address.ip(),
            threat: Threat::UnsuitableBridge { dpid: *dpid, why: why.clone() },
        });
        let new = new.collect();
        self.reported = found;
        new
    }

    /// The bridges that the database may speak for.
    fn own_bridges(&self) -> impl Iterator<Item = FoundBridge<'_>> {
        self.tables.bridges().filter(|bridge| self.may_have(bridge.dpid))
    }

    fn own_ports(&self) -> impl Iterator<Item = FoundPort<'_>> {
        self.tables.ports().filter(|port| self.may_have(port.at.dpid))
    }

    /// Whether its certificate may claim a datapath; over anything but TLS it is trusted.
    fn may_have(&self, dpid: DatapathId) -> bool {
        match (&self.address, &self.common.tls) {
            (OvsdbAddress::Ssl(_), Some(tls)) => {
                tls.check_claim(self.certificate.as_ref().map(|it| it.names.as_slice()), dpid).is_ok()
            }
            (OvsdbAddress::Ssl(_), None) => false,
            _ => true,
        }
    }

    fn is_own(&self, controller: &FoundController<'_>) -> bool {
        controller.row.port == Some(self.common.openflow_port)
    }

    fn transact(&mut self, operations: Vec<Value>) {
        if !operations.is_empty() {
            self.last_id = self.last_id.wrapping_add(1).max(2);
            self.send(&transact(self.last_id, operations));
        }
    }
}

/// The side of the connection.
impl Database {
    pub(super) fn connected(&mut self, certificate: Option<PeerCertificate>) {
        self.disconnected();
        self.certificate = certificate;
        self.send(&monitor());
    }

    pub(super) fn disconnected(&mut self) {
        (self.tables, self.certificate) = (Tables::default(), None);
        (self.asked, self.asked_of_controllers) = (BTreeMap::new(), BTreeMap::new());
        self.out.clear();
    }

    pub(super) fn handle(&mut self, message: Message) {
        match message {
            Message::Update(updates) => {
                self.tables.update(&updates);
                self.shaped = self.own_ports().filter_map(|port| Some((port.at, port.shaped_to?))).collect();
                self.asked.clear();
                self.asked_of_controllers.clear();
            }
            Message::Echo(answer) => self.send(&answer),
            Message::Refused(why) => {
                warn!(database = %self.address, error = why, "the database refused a request");
            }
            Message::Other => {}
        }
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.out.extend_from_slice(message.to_string().as_bytes());
        self.filled.notify_one();
    }

    /// Bytes to be sent.
    pub(super) fn take_unsent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Their number.
    pub(super) const fn unsent(&self) -> usize {
        self.out.len()
    }

    /// Notified when there are some.
    pub(super) fn filled(&self) -> Rc<Notify> {
        self.filled.clone()
    }
}

fn note(database: &OvsdbAddress, port: &FoundPort<'_>, bfd: PortBfd) {
    let FoundPort { at, name: interface, .. } = port;
    match bfd {
        PortBfd::On { interval } => {
            let interval_ms = interval.as_millis();
            info!(%database, %at, interface, interval_ms, "BFD is on at a port of a link");
        }
        PortBfd::Off => {
            warn!(%database, %at, interface, "BFD is turned off: the other end does not answer");
        }
    }
}
