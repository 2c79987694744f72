//! `braid host monitor`: events of MPTCP connections as they happen.

use std::io::Write;

use braid_host::pm::{Connection, Event, Subflow};

use super::path_manager;
use crate::output;

pub(crate) fn execute(json: bool) -> anyhow::Result<()> {
    let mut events = path_manager()?.events()?;
    output::stream(|out| {
        loop {
            let event = events.wait()?;
            if json {
                writeln!(out, "{}", serde_json::to_string(&event)?)?;
            } else {
                writeln!(out, "{}", line(&event))?;
            }
            out.flush()?;
        }
    })
}

fn line(event: &Event) -> String {
    match event {
        Event::Created(it) => format!("{} created {}", it.token, connection(it)),
        Event::Established(it) => format!("{} established {}", it.token, connection(it)),
        Event::Closed { token } => format!("{token} closed"),
        Event::Announced { token, id, address, port } => {
            let port = port.map(|port| format!(" port {port}")).unwrap_or_default();
            format!("{token} announced {address}{port} id {id}")
        }
        Event::Removed { token, id } => format!("{token} removed id {id}"),
        Event::SubflowEstablished(it) => format!("{} subflow-established {}", it.token, subflow(it)),
        Event::SubflowClosed(it) => format!("{} subflow-closed {}", it.token, subflow(it)),
        Event::SubflowPriority(it) => format!("{} subflow-priority {}", it.token, subflow(it)),
        Event::ListenerCreated { local } => format!("- listener-created {local}"),
        Event::ListenerClosed { local } => format!("- listener-closed {local}"),
    }
}

fn connection(it: &Connection) -> String {
    format!("{} {}", it.ends, if it.server_side { "server" } else { "client" })
}

fn subflow(it: &Subflow) -> String {
    let [local, remote] = it.ids;
    let backup = if it.backup { " backup" } else { "" };
    let error = match it.error {
        0 => String::new(),
        error => format!(" error: {}", std::io::Error::from_raw_os_error(error.into())),
    };
    format!("{} ids {local} {remote}{backup}{error}", it.ends)
}
