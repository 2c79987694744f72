//! `braid links`: links with delay, load and loss, each with its age.

mod measure;

use braid_types::Time;
use clap::Subcommand;

use crate::client::view::{Link, Reading};
use crate::client::{self, Answer, format};
use crate::table::table;

/// The age from which on a value is followed by its age; values are read once a second.
const STALE_SECONDS: u64 = 3;

#[derive(clap::Args)]
#[group(skip)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: client::WatchArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Measure the capacity of a link with trains of frames, which fill it for a second or two
    ///
    /// The controller uses the result, unless --network gives the capacity. For links of up to about 1 Gbit/s; cross traffic
    /// lowers the result.
    Measure(measure::Measure),
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    if let Some(Command::Measure(measure)) = &args.command {
        return measure::execute(measure);
    }
    client::show_or_watch(&args.list, "links", links)
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
    let age = at.map(|at| now.since(at)).filter(|age| age.as_secs() >= STALE_SECONDS);
    let age = age.map(|age| format!(" ({} ago)", format::duration(age)));
    format!("{}{}", show(value), age.unwrap_or_default())
}
