use braid_types::Time;

use crate::client::view::Host;
use crate::client::{Answer, Args, format, show};
use crate::table::table;

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    show(args, "hosts", |answer: &Answer<Host>| {
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
