//! What a controller sends as it happens.

use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::ListArgs;
use super::view::Event;
use crate::output;

/// A stream that ends is opened again after so long.
const PAUSE: Duration = Duration::from_secs(1);

/// Prints the events that a controller lists, and those that come, until nobody reads on or the controller is gone: each as
/// one line of JSON or as the line that `line` makes of it.
pub(crate) fn follow(list: &ListArgs, line: impl Fn(&Event) -> String) -> anyhow::Result<()> {
    let args = &list.args;
    let (_, listed) = args.ask::<Listed>("events", &[])?;
    output::stream(|out| {
        let mut print = |value: Value| match list.filter.fits(&value) {
            true => print(out, args.json(), value, &line),
            false => Ok(()),
        };
        listed.events.into_iter().try_for_each(&mut print)?;
        let mut last = listed.last_event_id;
        loop {
            let stream = args.controller.stream("events/stream", &last)?;
            read(stream, &mut last, &mut print)?;
            thread::sleep(PAUSE);
        }
    })
}

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

/// Hands on the data of each event until the stream ends; `last` becomes the id of the last one.
fn read(
    stream: impl BufRead,
    last: &mut String,
    mut each: impl FnMut(Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (mut id, mut event) = (String::new(), String::new());
    for line in stream.lines() {
        let line = match line {
            Ok(line) => line,
            // The controller went away, or this client was too slow for it.
            Err(error) if is_end(&error) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match line.split_once(": ") {
            Some(("id", value)) => value.clone_into(&mut id),
            Some(("event", value)) => value.clone_into(&mut event),
            Some(("data", data)) => {
                if event == "event" {
                    each(serde_json::from_str(data)?)?;
                }
                last.clone_from(&id);
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionReset, Other, TimedOut, UnexpectedEof};
    [UnexpectedEof, ConnectionReset, TimedOut, Other].contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_handed_on_and_the_last_id_remembered() {
        let text = "retry: 1000\n\nid: a-3\nevent: begin\ndata: {}\n\n:\n\nid: a-4\nevent: event\ndata: {\"at\":1}\n\n";
        let (mut last, mut found) = (String::new(), Vec::new());
        let each = |value| {
            found.push(value);
            Ok(())
        };
        read(text.as_bytes(), &mut last, each).unwrap();
        assert_eq!((last.as_str(), found), ("a-4", vec![serde_json::json!({ "at": 1 })]));
    }
}
