//! `braid alarms`: threats that the controller has seen.

use braid_api::Alarm;
use braid_client::List;
use braid_types::Time;

use crate::client::{ListArgs, format, show};
use crate::table::table;

pub(crate) fn execute(args: &ListArgs) -> anyhow::Result<()> {
    show(args, |answer: &List<Alarm>| {
        let rows = answer.items.iter().map(|alarm| row(alarm, answer.now));
        table(["AT", "TIMES", "LAST", "WHAT"], rows)
    })
}

fn row(alarm: &Alarm, now: Time) -> [String; 4] {
    [
        source(alarm),
        alarm.count.to_string(),
        format!("{} ago", format::duration(now.since(alarm.last_at))),
        alarm.text.clone(),
    ]
}

/// The port, or the peer of the controller.
fn source(alarm: &Alarm) -> String {
    let port = alarm.at.map(|at| format::named_port(alarm.at_name.as_deref().unwrap_or_default(), at));
    port.or(alarm.peer.map(|it| it.to_string())).unwrap_or_default()
}
