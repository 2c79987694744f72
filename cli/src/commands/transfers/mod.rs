//! `braid transfers`: transfers with the rates and the paths of each stream.

mod capacity;
mod history;
mod watched;

use std::net::SocketAddr;

use braid_api::{SprayPath, Stream, Transfer};
use braid_client::List;

use self::watched::Watched;
use crate::client::route::Routes;
use crate::client::{WatchArgs, format, show_or_watch};
use crate::table;

const HEADING: [&str; 10] =
    ["TRANSFER", "KIND", "AGE", "FROM", "TO", "SENT", "RATE", "RECEIVED", "RATE", "PATH"];
/// The columns of transfers that are watched: their share of the maximum flow, and the rates of streams over time.
const WATCHED: [&str; 2] = ["OF MAX", "LAST 15 S"];

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    if !args.watches() {
        return show_or_watch(args, |answer| show(answer, answer.items.iter(), None));
    }
    let watched = Watched::start(args.client()?);
    show_or_watch(args, |answer: &List<Transfer>| watched.show(answer))
}

/// A row of the table.
struct Line<'a> {
    cells: [String; 10],
    /// The stream that begins with this row.
    stream: Option<&'a Stream>,
    /// The transfer that begins with this row.
    transfer: Option<&'a Transfer>,
}

/// What fills the columns of [`WATCHED`] in a row.
type WatchedCells<'a> = dyn Fn(&Line<'_>) -> [String; 2] + 'a;

/// The table, with the columns of [`WATCHED`] as `watched` fills them for each row.
fn show<'a>(
    answer: &List<Transfer>,
    transfers: impl Iterator<Item = &'a Transfer> + Clone,
    watched: Option<&WatchedCells<'_>>,
) -> String {
    let routes = Routes::of(transfers.clone().flat_map(|transfer| &transfer.streams));
    let age = |transfer: &Transfer| format::duration(answer.now.since(transfer.opened_at));
    let lines: Vec<_> = transfers.flat_map(|transfer| lines(transfer, age(transfer), &routes)).collect();
    let column = |index: usize| lines.iter().map(|line| line.cells[index].clone()).collect();
    let mut columns: Vec<_> =
        HEADING.iter().enumerate().map(|(index, name)| (*name, column(index))).collect();
    if let Some(watched) = watched {
        let cells: Vec<_> = lines.iter().map(watched).collect();
        let more = WATCHED.iter().enumerate().map(|(index, name)| {
            let column = cells.iter().map(|cells| cells[index].clone());
            (*name, column.collect::<Vec<_>>())
        });
        let before = HEADING.len() - 1;
        columns.splice(before..before, more);
    }
    table::of_columns(columns)
}

/// A row for each stream, and one more for each further path of a sprayed one. The first row has the transfer's columns.
fn lines<'a>(transfer: &'a Transfer, age: String, routes: &Routes<'_>) -> Vec<Line<'a>> {
    let mut about = Some([transfer.id.to_string(), transfer.kind.to_string(), age]);
    let (mut lines, mut first) = (Vec::new(), Some(transfer));
    for stream in &transfer.streams {
        let mut paths = paths(stream, routes).into_iter();
        let cells = cells(stream, about.take().unwrap_or_default(), paths.next().unwrap_or_default());
        lines.push(Line { cells, stream: Some(stream), transfer: first.take() });
        lines.extend(paths.map(|path| Line { cells: only(path), stream: None, transfer: None }));
    }
    lines
}

fn cells(stream: &Stream, [id, kind, age]: [String; 3], path: String) -> [String; 10] {
    [
        id,
        kind,
        age,
        end(stream.src_name.as_deref(), stream.source()),
        end(stream.dst_name.as_deref(), stream.destination()),
        format::bytes(stream.bytes_sent),
        format::rate(stream.sent_bps),
        format::bytes(stream.bytes_received),
        format::rate(stream.received_bps),
        path,
    ]
}

fn only(path: String) -> [String; 10] {
    let mut cells = [const { String::new() }; 10];
    cells[9] = path;
    cells
}

/// An end of a connection, with the name of its host.
fn end(host: Option<&str>, address: SocketAddr) -> String {
    host.map_or_else(|| address.to_string(), |host| format!("{host} {address}"))
}

/// The paths of a stream: one, or all over which it is sprayed.
fn paths(stream: &Stream, routes: &Routes<'_>) -> Vec<String> {
    if stream.spray_paths.len() > 1 {
        let switches = |it: &SprayPath| it.path.clone();
        let all: Vec<_> = stream.spray_paths.iter().map(switches).collect();
        let is_parallel = |it: &SprayPath| all.iter().filter(|path| **path == it.path).count() > 1;
        return stream.spray_paths.iter().map(|it| sprayed(it, is_parallel(it))).collect();
    }
    match stream.path.is_empty() {
        true => vec!["default path".to_owned()],
        false => vec![format::list(routes.hops(stream), " > ")],
    }
}

/// A path, with ports where another one has the same switches.
fn sprayed(path: &SprayPath, with_ports: bool) -> String {
    let ports = path.ports.iter().filter(|_| with_ports).map(Some).chain(std::iter::repeat(None));
    let hops = format::path(&path.path_names, &path.path).into_iter().zip(ports);
    let hops = hops.map(|(switch, port)| match port {
        Some(at) => format!("{switch}:{}", at.port),
        None => switch,
    });
    format::list(hops, " > ")
}
