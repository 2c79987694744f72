//! `braid transfers`: transfers with the rates and the paths of each stream.

mod history;

use std::cell::RefCell;
use std::net::SocketAddr;

use braid_api::{SprayPath, Stream, Transfer};
use braid_client::List;

use self::history::History;
use crate::client::route::Routes;
use crate::client::{WatchArgs, format, show_or_watch};
use crate::table;

const HEADING: [&str; 10] =
    ["TRANSFER", "KIND", "AGE", "FROM", "TO", "SENT", "RATE", "RECEIVED", "RATE", "PATH"];
/// The column of rates over time, where they are watched.
const HISTORY: &str = "LAST 15 S";

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    if !args.watches() {
        return show_or_watch(args, |answer| show(answer, None));
    }
    let history = RefCell::new(History::default());
    show_or_watch(args, |answer: &List<Transfer>| {
        let mut history = history.borrow_mut();
        history.note(answer.items.iter().flat_map(|transfer| &transfer.streams));
        show(answer, Some(&history))
    })
}

/// A row of the table.
struct Line<'a> {
    cells: [String; 10],
    /// The stream that begins with this row.
    stream: Option<&'a Stream>,
}

fn show(answer: &List<Transfer>, history: Option<&History>) -> String {
    let routes = Routes::of(answer.items.iter().flat_map(|transfer| &transfer.streams));
    let age = |transfer: &Transfer| format::duration(answer.now.since(transfer.opened_at));
    let lines = answer.items.iter().flat_map(|transfer| lines(transfer, age(transfer), &routes));
    let lines: Vec<_> = lines.collect();
    let column = |index: usize| lines.iter().map(|line| line.cells[index].clone()).collect();
    let mut columns: Vec<_> =
        HEADING.iter().enumerate().map(|(index, name)| (*name, column(index))).collect();
    if let Some(history) = history {
        let of = |line: &Line<'_>| line.stream.map_or_else(String::new, |stream| history.line(stream.id));
        columns.insert(HEADING.len() - 1, (HISTORY, lines.iter().map(of).collect()));
    }
    table::of_columns(columns)
}

/// A row for each stream, and one more for each further path of a sprayed one. The first row has the transfer's columns.
fn lines<'a>(transfer: &'a Transfer, age: String, routes: &Routes<'_>) -> Vec<Line<'a>> {
    let mut about = Some([transfer.id.to_string(), transfer.kind.to_string(), age]);
    let mut lines = Vec::new();
    for stream in &transfer.streams {
        let mut paths = paths(stream, routes).into_iter();
        let cells = cells(stream, about.take().unwrap_or_default(), paths.next().unwrap_or_default());
        lines.push(Line { cells, stream: Some(stream) });
        lines.extend(paths.map(|path| Line { cells: only(path), stream: None }));
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
