//! `braid hosts`: hosts, their interfaces and addresses, and where they are attached.

use braid_api::Host;
use braid_client::List;
use braid_types::Time;

use crate::client::{WatchArgs, format, show_or_watch};
use crate::table::table;

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    show_or_watch(args, |answer: &List<Host>| {
        let mut interfaces: Vec<_> = answer.items.iter().collect();
        // Interfaces of one host follow each other.
        interfaces.sort_by_key(|it| (it.name.is_none(), &it.host));
        let rows = interfaces.into_iter().map(|host| row(host, answer.now));
        table(["HOST", "MAC", "AT", "ADDRESSES", "HEARD"], rows)
    })
}

fn row(host: &Host, now: Time) -> [String; 5] {
    [
        if host.host.is_empty() { host.mac.to_string() } else { host.host.clone() },
        host.mac.to_string(),
        format::named_port(&host.at_name, host.at),
        format::list(&host.addresses, ", "),
        format!("{} ago", format::duration(now.since(host.last_seen))),
    ]
}
