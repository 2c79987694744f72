//! `braid links`: links with delay, load and loss, each with its age.

mod measure;

use std::time::Duration;

use braid_api::Link;
use braid_client::List;
use braid_types::{BitsPerSec, Time};
use clap::Subcommand;

use crate::client::{self, format};
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
    client::show_or_watch(&args.list, links)
}

fn links(answer: &List<Link>) -> String {
    let heading = ["FROM", "TO", "CAPACITY", "LOAD", "AVAILABLE", "DELAY", "NOW", "LOSS"];
    table(heading, answer.items.iter().map(|link| row(link, answer.now)))
}

fn row(link: &Link, now: Time) -> [String; 8] {
    [
        format::named_port(&link.src_name, link.src),
        format::named_port(&link.dst_name, link.dst),
        BitsPerSec(link.capacity_bps).to_string(),
        cell(link.load_bps, age(link.load_at, now), format::rate),
        cell(link.available_bps, age(link.load_at, now), format::rate),
        cell(link.delay_us.map(|it| it.base), age(link.delay_at, now), format::micros),
        cell(link.delay_us.map(|it| it.current), age(link.delay_at, now), format::micros),
        loss(link, now),
    ]
}

/// The loss, and whether the link is avoided for it.
fn loss(link: &Link, now: Time) -> String {
    let measured = cell(link.loss, age(link.loss_at, now), format::percent);
    link.degraded.map_or(measured, |it| {
        let evidence = it.evidence;
        let seconds = Duration::from_micros(evidence.time_us).as_secs_f64();
        format!("avoided: {} of {} frames lost in {seconds:.1} s", evidence.lost, evidence.frames)
    })
}

fn cell<T>(reading: Option<T>, age: String, show: impl Fn(T) -> String) -> String {
    reading.map_or_else(|| "-".to_owned(), |value| show(value) + &age)
}

/// How old a reading is, if that is worth saying.
fn age(at: Option<Time>, now: Time) -> String {
    let age = at.map(|at| now.since(at)).filter(|age| age.as_secs() >= STALE_SECONDS);
    age.map(|age| format!(" ({} ago)", format::duration(age))).unwrap_or_default()
}
