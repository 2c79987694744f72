//! `braid edges`: spraying and resequencing as edges report them.

use braid_api::{Edge, EdgePath, EdgePathState, Resequencer, SprayGroup};
use braid_client::List;
use braid_types::Time;

use crate::client::{WatchArgs, format, show_or_watch};
use crate::table::table;

/// The age from which on a value is followed by its age; values are read once a second.
const STALE_SECONDS: u64 = 3;

const PATH_COLUMNS: [&str; 10] =
    ["EDGE", "TO", "PATH", "SHARE", "NOW", "CAPACITY", "ROUND TRIP", "QUEUE", "LOSS", "SILENCES"];

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    show_or_watch(args, edges)
}

fn edges(answer: &List<Edge>) -> String {
    let sprays = answer.items.iter().flat_map(|edge| rows(edge, answer.now));
    let sprays = table(PATH_COLUMNS, sprays);
    let mut resequencers =
        answer.items.iter().flat_map(|edge| edge.resequencers.iter().map(move |it| (edge, it))).peekable();
    if resequencers.peek().is_none() {
        return sprays;
    }
    let heading = [
        "EDGE",
        "FROM",
        "HOST",
        "HELD",
        "OF",
        "HOLD P50",
        "P99",
        "MAX",
        "GAPS FILLED",
        "GIVEN UP",
        "SPURIOUS",
    ];
    format!(
        "{sprays}\n{}",
        table(heading, resequencers.map(|(edge, resequencer)| resequencer_row(edge, resequencer)))
    )
}

/// One row for each path; one for an edge without spray groups.
fn rows(edge: &Edge, now: Time) -> Vec<[String; 10]> {
    if edge.spray_groups.is_empty() {
        let mut row = [const { String::new() }; 10];
        row[0] = name(edge);
        return vec![row];
    }
    let paths = edge.spray_groups.iter().flat_map(|spray| spray.paths.iter().map(move |path| (spray, path)));
    paths.map(|(spray, path)| path_row(edge, spray, path, now)).collect()
}

fn path_row(edge: &Edge, spray: &SprayGroup, path: &EdgePath, now: Time) -> [String; 10] {
    let age = path.read_at.map(|at| now.since(at)).filter(|age| age.as_secs() >= STALE_SECONDS);
    let age = age.map_or_else(String::new, |age| format!(" ({} ago)", format::duration(age)));
    let share = match path.state {
        None | Some(EdgePathState::Active) => cell(path.share, format::percent),
        Some(EdgePathState::Silent) => "silent".to_owned(),
        Some(EdgePathState::Down) => "down".to_owned(),
        Some(EdgePathState::Suspended) => "suspended".to_owned(),
    };
    [
        name(edge),
        format::named_switch(Some(&spray.to_name), spray.to),
        format::list(hops(path), " > "),
        share + &age,
        cell(path.carried_bps, format::rate),
        cell(path.estimated_capacity_bps, format::rate),
        cell(path.round_trip_us, format::micros),
        cell(path.queue_us, format::micros),
        cell(path.loss, format::percent),
        cell(path.read_at, |_| path.silences.to_string()),
    ]
}

fn name(edge: &Edge) -> String {
    format::named_switch(edge.name.as_deref(), edge.dpid)
}

/// The switches, with the ports by which the path leaves them: these distinguish parallel links.
fn hops(path: &EdgePath) -> Vec<String> {
    let names = path.port_names.iter().map(String::as_str).chain(std::iter::repeat(""));
    let ports = path.ports.iter().zip(names).map(|(at, name)| format::named_port(name, *at));
    let switches = format::path(&path.path_names, &path.path).into_iter().skip(path.ports.len());
    ports.chain(switches).take(path.path.len()).collect()
}

fn resequencer_row(edge: &Edge, resequencer: &Resequencer) -> [String; 11] {
    let (held, hold_time, counters) =
        (resequencer.held.as_ref(), resequencer.hold_time.as_ref(), resequencer.counters.as_ref());
    [
        name(edge),
        format::named_switch(Some(&resequencer.from_name), resequencer.from),
        resequencer.host.to_string(),
        cell(held, |it| format!("{} ({})", it.packets, format::bytes(it.bytes))),
        cell(held, |it| format::bytes(it.max_bytes)),
        cell(hold_time.and_then(|it| it.p50_us), format::micros),
        cell(hold_time.and_then(|it| it.p99_us), format::micros),
        cell(hold_time.and_then(|it| it.max_us), format::micros),
        cell(counters, |it| it.gaps_filled.to_string()),
        cell(counters, |it| it.gaps_given_up().to_string()),
        cell(counters, |it| it.spurious.to_string()),
    ]
}

fn cell<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}
