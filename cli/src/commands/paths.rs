//! `braid paths`: path queries to a controller or about a network file.

use braid_api::{PathSet, Paths, PathsParameters, Schema};
use braid_assign::StreamModel;
use braid_paths::query::{Latency, Query};
use braid_paths::{Kind, Request, Weight};
use braid_types::BitsPerSec;
use serde::Serialize;

use crate::exit::{self, Code, ExitWith};
use crate::paths::{ModeParser, report, search};
use crate::topology::source::{self, LinkArgs, Source};
use crate::{client, complete, output};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The source: a switch or host by its name; in a controller's network also a datapath id, or the IP or MAC address of a
    /// host
    #[arg(add = complete::nodes())]
    src: String,
    /// The destination, as SRC
    #[arg(add = complete::nodes())]
    dst: String,
    /// The kind of path set
    #[arg(long, value_parser = ModeParser, default_value_t = Kind::Shortest)]
    mode: Kind,
    /// The maximum number of paths
    #[arg(short, value_parser = number_of_paths, default_value_t = Query::DEFAULT_K, allow_hyphen_values = true)]
    k: usize,
    /// Link cost: hops, latency (microseconds), load, or a sum such as 10*hops+latency
    #[arg(long, default_value_t = Weight::HOPS, allow_hyphen_values = true)]
    weight: Weight,
    /// Search this network instead: a file (GraphML, node-link JSON, Braid's JSON or a scenario), - for standard input, or
    /// a generator, such as fattree:8
    #[arg(long, value_name = "SOURCE", add = complete::networks())]
    topology: Option<Source>,
    #[command(flatten)]
    links: LinkArgs,
    /// Exclude a switch (NODE), the link at a port (NODE:PORT), or all links between two switches (A--B); may be repeated
    #[arg(long, value_name = "WHAT")]
    without: Vec<String>,
    /// Use only links with at least this capacity, such as 100Mbit
    #[arg(
        long,
        value_name = "RATE",
        default_value = "0bit",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    min_capacity: BitsPerSec,
    /// Use only paths with at most this delay, such as 10ms
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    max_latency: Option<Latency>,
    /// Show how many parallel TCP streams each path alone can use: max(1, a*B*R), for its spare capacity B and round-trip
    /// time R
    #[arg(long)]
    streams: bool,
    /// The a of --streams, in streams per Mbit/s and ms; `braid calibrate` measures it
    #[arg(long, value_name = "A", default_value_t = StreamModel::default().a, requires = "streams")]
    streams_a: f64,
    #[command(flatten)]
    client: client::Args,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let query = args.query();
    let model =
        StreamModel { a: args.streams_a, ..StreamModel::default() }.checked().exit_with(Code::Usage)?;
    let (body, view) = match &args.topology {
        Some(source) => {
            let network = source::load(source, args.links)?.with_warnings_printed();
            let view = search::in_blueprint(&network, &query)?;
            (document(&view)?, view)
        }
        None if args.links.is_given() => {
            return Err(exit::error(Code::Usage, "--rate and --delay are for networks of --topology"));
        }
        None => {
            let (body, Paths { set, .. }) = args.client.ask("paths", &parameters(&query))?;
            (body, set)
        }
    };
    report::notes(&view).for_each(|note| exit::say(&note));
    if args.client.json() {
        args.client.print(&body)?;
    } else if !view.paths.is_empty() {
        output::text(&report::text(&view, args.streams.then_some(model)))?;
    }
    view.explanation.as_ref().map_or(Ok(()), |why| Err(no_path(&view, why)))
}

impl Args {
    fn query(&self) -> Query {
        Query {
            src: self.src.clone(),
            dst: self.dst.clone(),
            mode: self.mode,
            k: self.k,
            weight: self.weight,
            without: self.without.clone(),
            min_capacity: self.min_capacity,
            max_latency: self.max_latency,
        }
    }
}

/// The query as a controller is asked it.
fn parameters(query: &Query) -> PathsParameters {
    PathsParameters {
        src: query.src.clone(),
        dst: query.dst.clone(),
        mode: Some(query.mode.to_string()),
        k: u32::try_from(query.k).ok(),
        weight: Some(query.weight.to_string()),
        without: query.without.clone(),
        min_capacity: (query.min_capacity > BitsPerSec(0)).then(|| query.min_capacity.exact()),
        max_latency: query.max_latency.map(Latency::exact),
    }
}

fn document(view: &PathSet) -> anyhow::Result<String> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: Schema,
        #[serde(flatten)]
        view: &'a PathSet,
    }
    Ok(serde_json::to_string(&Document { schema: Schema, view })?)
}

fn number_of_paths(text: &str) -> Result<usize, String> {
    let k = text.parse().map_err(|_| "not a number of paths".to_owned())?;
    Request::new(Kind::Shortest, k).check().map(|()| k).map_err(|error| error.to_string())
}

fn no_path(view: &PathSet, why: &str) -> anyhow::Error {
    exit::error(Code::NotFound, format!("no path from {} to {}: {why}", view.src.name, view.dst.name))
}
