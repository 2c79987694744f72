//! Events printed as they happen.

use std::io::Write;
use std::thread;
use std::time::Duration;

use braid_api::{Event, EventsParameters};
use serde::Deserialize;
use serde_json::Value;

use super::{ListArgs, answer};
use crate::output;

/// A stream that ends is opened again after so long.
const PAUSE: Duration = Duration::from_secs(1);

/// Prints the events that a controller lists, and those that come, until nobody reads on or the controller is gone: each as
/// one line of JSON or as the line that `line` makes of it.
pub(crate) fn follow(list: &ListArgs, line: impl Fn(&Event) -> String) -> anyhow::Result<()> {
    let args = &list.args;
    let client = args.client()?;
    let listed: Listed = answer(client.get("events", &EventsParameters::default()))?;
    output::stream(|out| {
        let mut print = |value: Value| match list.filter.fits(&value) {
            true => print(out, args.json(), value, &line),
            false => Ok(()),
        };
        listed.events.into_iter().try_for_each(&mut print)?;
        let mut last = listed.last_event_id;
        loop {
            for message in answer(client.messages("events/stream", &last))? {
                let message = answer(message)?;
                if message.event == "event" {
                    print(serde_json::from_str(&message.data)?)?;
                }
                last = message.id;
            }
            thread::sleep(PAUSE);
        }
    })
}

/// Events as they came.
#[derive(Deserialize)]
struct Listed {
    last_event_id: String,
    events: Vec<Value>,
}

fn print(
    out: &mut dyn Write,
    as_json: bool,
    value: Value,
    line: &impl Fn(&Event) -> String,
) -> anyhow::Result<()> {
    match as_json {
        true => writeln!(out, "{value}")?,
        false => writeln!(out, "{}", line(&serde_json::from_value(value)?))?,
    }
    Ok(out.flush()?)
}
