//! `braid hosts`: hosts, their addresses and where they are attached.

use braid_api::Host;
use braid_client::List;
use braid_types::Time;

use crate::client::{WatchArgs, format, show_or_watch};
use crate::table::table;

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    show_or_watch(args, |answer: &List<Host>| {
        let rows = answer.items.iter().map(|host| row(host, answer.now));
        table(["HOST", "AT", "ADDRESSES", "HEARD"], rows)
    })
}

fn row(host: &Host, now: Time) -> [String; 4] {
    [
        host.mac.to_string(),
        format::port(host.at),
        format::list(&host.addresses, ", "),
        format!("{} ago", format::duration(now.since(host.last_seen))),
    ]
}
