//! The same question again and again.

use std::io::{IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use braid_api::Item;
use braid_client::List;
use serde_json::Value;

use super::ListArgs;
use crate::output;

const INTERVAL: Duration = Duration::from_secs(1);
/// The cursor to the upper left corner; erase to the end of the line; erase what is below.
const HOME: &str = "\x1b[H";
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";

/// Asks for a list every second, and prints each answer as one line of JSON or as the table that `table` makes
/// of it, until nobody reads on or the controller is gone.
pub(super) fn watch<T: Item>(list: &ListArgs, table: impl Fn(&List<T>) -> String) -> anyhow::Result<()> {
    let in_place = !list.args.json && std::io::stdout().is_terminal();
    let client = list.args.client()?;
    output::stream(|out| {
        let mut next = Instant::now();
        loop {
            let (body, answer) = list.ask(&client)?;
            let text = match (list.args.json, in_place) {
                (true, _) => format!("{}\n", serde_json::from_str::<Value>(&body)?),
                (false, true) => redrawn(&table(&answer)),
                (false, false) => format!("{}\n", table(&answer)),
            };
            out.write_all(text.as_bytes())?;
            out.flush()?;
            next += INTERVAL;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    })
}

/// The text over what stood on the screen, which does not flicker as it would if that was erased before.
fn redrawn(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("{line}{REST_OF_LINE}\n")).collect();
    format!("{HOME}{lines}{REST_OF_SCREEN}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_drawn_over_the_last_one_and_nothing_of_that_remains() {
        assert_eq!(redrawn("A  B\n1  2\n"), "\x1b[HA  B\x1b[K\n1  2\x1b[K\n\x1b[J");
    }
}
