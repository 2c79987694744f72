//! Open vSwitch's configuration databases (OVSDB, RFC 7047): BFD (RFC 5880) on the ports that are links, so that switches
//! notice within a tenth of a second that a link has gone dark; the rates to which ports are shaped; and what else of a
//! switch's configuration matters.
//!
//! A thread of its own speaks with the databases. `plan` decides on which ports BFD should run, `tables` mirrors a database,
//! `bridge` judges bridges and their controllers, `json_rpc` reads and writes messages, `database` is all of one database,
//! `client` and `stream` are the connection.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod address;
mod bridge;
mod client;
mod database;
mod json_rpc;
mod plan;
mod stream;
mod tables;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use braid_control::Threat;
use braid_types::{BitsPerSec, DatapathId, SwitchPort};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::Clock;
use crate::engine::Shared;
use crate::openflow_tls::OpenFlowTls;
use crate::tasks::Tasks;
pub use address::{OvsdbAddress, OvsdbAddressError};
use database::{Common, Database};
use plan::{Links, Plan};

/// The interval at which the network is compared with what the databases say.
const INTERVAL: Duration = Duration::from_millis(250);
/// Alarms that wait for the engine; more wait in turn.
const MAX_PENDING_ALARMS: usize = 64;

/// Open vSwitch's databases, and what is set in them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OvsdbConfig {
    /// Where they are.
    pub databases: Vec<OvsdbAddress>,
    /// `max_backoff` of this controller, where it is not set: a switch's longest pause between attempts to connect. `None`
    /// leaves it as it is.
    pub max_backoff: Option<Duration>,
}

impl OvsdbConfig {
    /// The first database that needs certificates.
    pub(crate) fn over_tls(&self) -> Option<&OvsdbAddress> {
        self.databases.iter().find(|address| matches!(address, OvsdbAddress::Ssl(_)))
    }
}

/// What the thread is told of the controller.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The port on which switches connect.
    pub(crate) openflow_port: u16,
    pub(crate) tls: Option<OpenFlowTls>,
}

/// The part of the network that matters here.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Network {
    links: Links,
    /// The ports of Braid's edges that answer BFD.
    answering: BTreeSet<SwitchPort>,
    /// The switches whose master this controller is.
    served: BTreeSet<DatapathId>,
}

/// The rates to which databases say that ports are shaped.
type Shaped = BTreeMap<SwitchPort, BitsPerSec>;

/// Something in a database that people should know.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Alarm {
    database: IpAddr,
    threat: Threat,
}

/// Where what is found in databases goes.
struct Found {
    alarms: mpsc::Sender<Alarm>,
    shaped: watch::Sender<Shaped>,
}

/// Starts the thread that speaks with these databases, and the tasks between it and the engine.
pub(crate) fn start(
    tasks: &mut Tasks,
    engine: Shared,
    config: OvsdbConfig,
    surroundings: Surroundings,
) -> io::Result<()> {
    if config.databases.is_empty() {
        return Ok(());
    }
    let Surroundings { openflow_port, tls } = surroundings;
    let common = Common { tls, openflow_port, max_backoff: config.max_backoff };
    let databases = config.databases.into_iter().map(|address| (address, common.clone())).collect();
    let (network_sender, network) = watch::channel(Network::default());
    let (shaped_sender, shaped) = watch::channel(Shaped::new());
    let (alarm_sender, alarms) = mpsc::channel(MAX_PENDING_ALARMS);
    tasks.spawn("network-for-ovsdb", publish(engine.clone(), network_sender));
    tasks.spawn("rates-of-ovsdb", shape(engine.clone(), shaped));
    tasks.spawn("alarms-of-ovsdb", raise(engine, alarms));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    tasks.spawn_thread("ovsdb", move || {
        LocalSet::new().block_on(
            &runtime,
            follow(databases, network, Found { alarms: alarm_sender, shaped: shaped_sender }),
        );
    })
}

async fn publish(engine: Shared, network: watch::Sender<Network>) {
    let mut timer = interval(INTERVAL);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        timer.tick().await;
        let now = {
            let engine = engine.borrow();
            let brain = engine.brain();
            let ends = brain.links_after(None).map(|link| (link.src, link.dst));
            let links = Links::new(ends, brain.sizes().transfers > 0);
            let answering = brain.answering_bfd().collect();
            Network { links, answering, served: engine.switches().mastered().collect() }
        };
        network.send_if_modified(|before| std::mem::replace(before, now.clone()) != now);
    }
}

async fn shape(engine: Shared, mut shaped: watch::Receiver<Shaped>) {
    while shaped.changed().await.is_ok() {
        let rates = shaped.borrow_and_update().clone();
        engine.borrow_mut().set_shaped_ports(rates);
    }
}

async fn raise(engine: Shared, mut alarms: mpsc::Receiver<Alarm>) {
    while let Some(Alarm { database, threat }) = alarms.recv().await {
        engine.borrow_mut().raise_alarm(database, threat, 1);
    }
}

async fn follow(databases: Vec<(OvsdbAddress, Common)>, network: watch::Receiver<Network>, found: Found) {
    let clock = Clock::start();
    let new = |(address, common)| Rc::new(RefCell::new(Database::new(address, common)));
    let databases: Vec<_> = databases.into_iter().map(new).collect();
    for database in &databases {
        tokio::task::spawn_local(client::serve(database.clone()));
    }
    let (mut plan, mut timer) = (Plan::default(), interval(INTERVAL));
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Ends when the controller does.
    while network.has_changed().is_ok() {
        timer.tick().await;
        let Network { links, answering, served } = network.borrow().clone();
        let ports = databases.iter().flat_map(|it| it.borrow().ports()).collect();
        let ports = links.with_answering(&answering, ports);
        let settings = plan.decide(clock.now(), &links, &ports);
        for database in &databases {
            database.borrow_mut().set(&settings);
            database.borrow_mut().set_max_backoff(&served);
            let alarms = database.borrow_mut().alarms(&served);
            for alarm in alarms {
                // Its receiver ends with the controller.
                let _ = found.alarms.send(alarm).await;
            }
        }
        let shaped: Shaped = databases.iter().flat_map(|it| it.borrow().shaped().to_vec()).collect();
        found.shaped.send_if_modified(|before| std::mem::replace(before, shaped.clone()) != shaped);
    }
}
