//! Open vSwitch's configuration databases (OVSDB, RFC 7047): BFD (RFC 5880) on the ports that are links, so that switches
//! notice within a tenth of a second that a link has gone dark.
//!
//! A thread of its own speaks with the databases. `plan` decides on which ports BFD is wanted, `tables` mirrors a database,
//! `json_rpc` reads and writes its messages, `client` is the connection.

mod address;
mod client;
mod json_rpc;
mod plan;
mod tables;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::Clock;
use crate::engine::Shared;
use crate::tasks::Tasks;
pub use address::{OvsdbAddress, OvsdbAddressError};
use client::Database;
use plan::{Links, Plan};

/// The interval at which links are compared with what the databases say.
const INTERVAL: Duration = Duration::from_millis(250);

/// Starts the thread that sets BFD in these databases, and the task that tells it which links there are.
pub(crate) fn start(tasks: &mut Tasks, engine: Shared, addresses: Vec<OvsdbAddress>) -> io::Result<()> {
    if addresses.is_empty() {
        return Ok(());
    }
    let (sender, links) = watch::channel(Links::default());
    tasks.spawn("links-for-ovsdb", publish(engine, sender));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    tasks.spawn_thread("ovsdb", move || LocalSet::new().block_on(&runtime, follow(addresses, links)))
}

async fn publish(engine: Shared, links: watch::Sender<Links>) {
    let mut timer = interval(INTERVAL);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        timer.tick().await;
        let now = {
            let engine = engine.borrow();
            let brain = engine.brain();
            let ends = brain.links_after(None).map(|link| (link.src, link.dst));
            Links::new(ends, brain.sizes().transfers > 0)
        };
        links.send_if_modified(|before| std::mem::replace(before, now.clone()) != now);
    }
}

async fn follow(addresses: Vec<OvsdbAddress>, links: watch::Receiver<Links>) {
    let clock = Clock::start();
    let databases: Vec<_> =
        addresses.into_iter().map(|it| Rc::new(RefCell::new(Database::new(it)))).collect();
    for database in &databases {
        tokio::task::spawn_local(client::serve(database.clone()));
    }
    let (mut plan, mut timer) = (Plan::default(), interval(INTERVAL));
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Ends when the controller does.
    while links.has_changed().is_ok() {
        timer.tick().await;
        let ports = databases.iter().flat_map(|it| it.borrow().ports()).collect();
        let settings = plan.decide(clock.now(), &links.borrow(), &ports);
        databases.iter().for_each(|database| database.borrow_mut().set(&settings));
    }
}
