use braid_types::Time;

use crate::client::view::{Link, Reading};
use crate::client::{self, Answer, format};
use crate::table::table;

/// Readings are taken once a second; one that is older than this is followed by its age.
const OLD_SECONDS: u64 = 3;

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Ask again every second, until Ctrl-C
    ///
    /// On a terminal the table is drawn anew in its place; elsewhere one table follows the other. With --json, each
    /// answer is a line.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    client: client::Args,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let show = if args.watch { client::watch } else { client::show };
    show(&args.client, "links", links)
}

fn links(answer: &Answer<Link>) -> String {
    let heading = ["FROM", "TO", "CAPACITY", "LOAD", "AVAILABLE", "DELAY", "NOW", "LOSS"];
    table(heading, answer.items.iter().map(|link| row(link, answer.now)))
}

fn row(link: &Link, now: Time) -> [String; 8] {
    [
        format::port(link.src),
        format::port(link.dst),
        link.capacity().to_string(),
        cell(link.load(), now, format::rate),
        cell(link.available(), now, format::rate),
        cell(link.base_delay(), now, format::micros),
        cell(link.current_delay(), now, format::micros),
        cell(link.loss(), now, format::percent),
    ]
}

fn cell<T>(reading: Option<Reading<T>>, now: Time, show: impl Fn(T) -> String) -> String {
    let Some(Reading { value, at }) = reading else { return "-".to_owned() };
    let age = at.map(|at| now.since(at)).filter(|age| age.as_secs() >= OLD_SECONDS);
    let age = age.map(|age| format!(" ({} ago)", format::duration(age)));
    format!("{}{}", show(value), age.unwrap_or_default())
}
