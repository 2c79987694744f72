use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_assign::DealBy;
use braid_types::FiveTuple;
use serde_json::{Value, json};

use super::connection::Connection;
use crate::client::Controller;
use crate::exit;

/// Whose paths connections take.
pub(super) enum Assigning {
    /// This assignment's.
    Given(String),
    /// Those of an assignment that is made for each pair of hosts.
    ByHost { paths: u8, streams: Option<u16>, deal: DealBy },
}

/// Tells a controller of connections before they open.
pub(super) struct Announcer {
    controller: Controller,
    assigning: Assigning,
    owner: Option<String>,
    /// Assignments that were made here; `None` where there could not be one.
    made: BTreeMap<(IpAddr, IpAddr), Option<String>>,
    placed: Vec<(String, FiveTuple)>,
    has_warned: bool,
}

impl Announcer {
    pub(super) fn new(controller: Controller, assigning: Assigning, owner: Option<String>) -> Self {
        Self { controller, assigning, owner, made: BTreeMap::new(), placed: Vec::new(), has_warned: false }
    }

    /// The connections that have a path.
    pub(super) fn placed(&self) -> impl Iterator<Item = &FiveTuple> {
        self.placed.iter().map(|(_, tuple)| tuple)
    }

    pub(super) const fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Has a connection placed; without success it goes the way of all others.
    pub(super) fn announce(&mut self, connection: &Connection) {
        let tuple = connection.tuple;
        let Some(id) = self.assignment(&tuple) else { return };
        let body = self.with_owner(connection_body(&tuple));
        match self.controller.send("POST", &format!("assignments/{id}/streams"), &body) {
            Ok(_) => {
                self.placed.retain(|(_, known)| *known != tuple);
                self.placed.push((id, tuple));
            }
            Err(error) => self.warn(&error),
        }
    }

    /// Gives back what was set aside here.
    pub(super) fn release(&self) {
        // What does not reach the controller now ends there by itself.
        for (id, tuple) in &self.placed {
            let body = self.with_owner(connection_body(tuple));
            drop(self.controller.send("DELETE", &format!("assignments/{id}/streams"), &body));
        }
        for id in self.made.values().flatten() {
            drop(self.controller.send("DELETE", &format!("assignments/{id}"), &self.with_owner(json!({}))));
        }
    }

    fn assignment(&mut self, tuple: &FiveTuple) -> Option<String> {
        let (paths, streams, deal) = match &self.assigning {
            Assigning::Given(id) => return Some(id.clone()),
            Assigning::ByHost { paths, streams, deal } => (*paths, *streams, *deal),
        };
        let hosts = (tuple.src, tuple.dst);
        if let Some(known) = self.made.get(&hosts) {
            return known.clone();
        }
        let mut body =
            self.with_owner(json!({ "src": tuple.src, "dst": tuple.dst, "paths": paths, "deal": deal }));
        if let Some(streams) = streams {
            body["streams"] = json!(streams);
        }
        let made = match self.controller.send("POST", "assignments", &body) {
            Ok(answer) => answer["assignment"]["id"].as_str().map(str::to_owned),
            Err(error) => {
                self.warn(&error);
                None
            }
        };
        self.made.insert(hosts, made.clone());
        made
    }

    fn with_owner(&self, mut body: Value) -> Value {
        if let Some(owner) = &self.owner {
            body["owner"] = json!(owner);
        }
        body
    }

    fn warn(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.has_warned, true) {
            exit::say(&format!("{error:#}; connections go the way of all others"));
        }
    }
}

fn connection_body(tuple: &FiveTuple) -> Value {
    json!({ "src": tuple.src, "src_port": tuple.src_port, "dst": tuple.dst, "dst_port": tuple.dst_port })
}
