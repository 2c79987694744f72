//! `braid events`: the controller's last events, or a stream of them.

use braid_api::Event;
use braid_client::List;
use braid_types::Time;

use crate::client::{self, format};
use crate::table::table;

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Keep printing new events until Ctrl-C
    ///
    /// Each event is a line that begins with the seconds since the controller started; with --json, a line of JSON.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    list: client::ListArgs,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    match args.follow {
        true => client::follow(&args.list, line),
        false => client::show(&args.list, |answer: &List<Event>| {
            table(["AGO", "LEVEL", "WHAT"], answer.items.iter().map(|event| row(event, answer.now)))
        }),
    }
}

fn row(event: &Event, now: Time) -> [String; 3] {
    [format::duration(now.since(event.time)), event.level.name().to_owned(), event.text.clone()]
}

fn line(event: &Event) -> String {
    let seconds = event.time.as_nanos() as f64 / 1e9;
    format!("{seconds:10.3} {:7} {}", event.level.name(), event.text)
}
