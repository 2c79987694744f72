//! `braid switches`: connected switches and their ports.

use braid_api::{Port, PortRole, Switch};
use braid_client::List;

use crate::client::{WatchArgs, format, show_or_watch};
use crate::table::table;

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    show_or_watch(args, |answer: &List<Switch>| {
        table(["SWITCH", "ADDRESS", "PORTS", "UP", "LINKS"], answer.items.iter().map(row))
    })
}

fn row(switch: &Switch) -> [String; 5] {
    let count =
        |wanted: fn(&Port) -> bool| switch.ports.iter().filter(|port| wanted(port)).count().to_string();
    [
        format::switch(switch.dpid),
        format::list(switch.address, ""),
        count(|_| true),
        count(|port| port.up),
        count(|port| port.role == Some(PortRole::Link)),
    ]
}
