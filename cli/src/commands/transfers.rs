//! `braid transfers`: transfers with the rate and path of each stream.

use braid_api::{Stream, Transfer};
use braid_client::List;
use braid_types::Time;

use crate::client::route::Routes;
use crate::client::{WatchArgs, format, show_or_watch};
use crate::table::table;

pub(crate) fn execute(args: &WatchArgs) -> anyhow::Result<()> {
    show_or_watch(args, |answer: &List<Transfer>| {
        let routes = Routes::of(answer.items.iter().flat_map(|transfer| &transfer.streams));
        let rows = answer.items.iter().flat_map(|transfer| rows(transfer, &routes, answer.now));
        table(["TRANSFER", "KIND", "AGE", "FROM", "TO", "SENT", "RECEIVED", "PATH"], rows)
    })
}

/// One row for each stream; the first row has the transfer's columns as well.
fn rows(transfer: &Transfer, routes: &Routes<'_>, now: Time) -> Vec<[String; 8]> {
    let age = format::duration(now.since(transfer.opened_at));
    let about = [transfer.id.to_string(), transfer.kind.to_string(), age];
    let abouts = std::iter::once(about).chain(std::iter::repeat([const { String::new() }; 3]));
    transfer.streams.iter().zip(abouts).map(|(stream, about)| row(stream, routes, about)).collect()
}

fn row(stream: &Stream, routes: &Routes<'_>, [id, kind, age]: [String; 3]) -> [String; 8] {
    let path = match stream.path.is_empty() {
        true => "default path".to_owned(),
        false => format::list(routes.hops(stream), " > "),
    };
    let (sent, received) = (format::bytes(stream.bytes_sent), format::bytes(stream.bytes_received));
    [id, kind, age, stream.source().to_string(), stream.destination().to_string(), sent, received, path]
}
