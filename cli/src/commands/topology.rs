//! `braid topology`: networks described, converted and generated.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use braid_paths::query::Latency;
use braid_topology::generate::Spec;
use braid_topology::import::MAX_INPUT;
use braid_topology::{Blueprint, export};
use braid_types::{BitsPerSec, SwitchPort};
use clap::{Subcommand, ValueEnum};
use serde_json::json;
use tracing::warn;

use crate::client::format;
use crate::exit::{Code, ExitWith};
use crate::table::table;
use crate::topology::source::{self, LinkArgs, Source};
use crate::topology::summary::{Diameter, Range, Summary};
use crate::{check, complete, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show the size and connectivity of a network
    ///
    /// Examples: braid topology show fattree:8; braid topology show network.graphml --links --hosts
    Show(Show),
    /// Write a network in another format
    ///
    /// Examples: braid topology convert network.graphml --to node-link -o network.json;
    /// braid topology convert --to dot | neato -Tsvg -o network.svg
    Convert(Convert),
    /// Check files of networks: GraphML, node-link JSON, Braid's JSON and scenarios
    Check(check::Args),
    /// Generate a network of a known family
    ///
    /// Example: braid topology generate jellyfish:60,10,120,7 --rate 10Gbit --delay 1ms
    Generate(Generate),
}

#[derive(clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    source: source::Args,
    /// List the directed links between switches
    #[arg(long, conflicts_with = "json")]
    links: bool,
    /// List the switches
    #[arg(long, conflicts_with = "json")]
    switches: bool,
    /// List the hosts, one line for each interface
    #[arg(long, conflicts_with = "json")]
    hosts: bool,
    /// Print the figures as JSON; `convert` prints the network itself
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    source: source::Args,
    #[command(flatten)]
    target: Target,
}

#[derive(clap::Args)]
pub(crate) struct Generate {
    /// The generator: fattree:K, jellyfish:SWITCHES,PORTS,HOSTS(,SEED), dh-jellyfish:…, line:N, ring:N,
    /// torus:ROWS,COLUMNS, two-path, east-asia, huang-a or huang-b
    #[arg(add = complete::families())]
    spec: Spec,
    #[command(flatten)]
    links: LinkArgs,
    #[command(flatten)]
    target: Target,
}

/// The output of a network.
#[derive(clap::Args)]
struct Target {
    /// The format
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    to: Format,
    /// The file to write; by default standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Braid's own JSON, which preserves all properties
    Json,
    /// JSON for networkx.node_link_graph
    NodeLink,
    /// DOT, for Graphviz
    Dot,
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Show(show) => self::show(show),
        Command::Check(files) => files.each(|file| Ok(size(&load(file)?))),
        Command::Convert(Convert { source, target }) => write(&source.load()?, target),
        Command::Generate(Generate { spec, links, target }) => {
            write(&source::generate(*spec, *links)?, target)
        }
    }
}

fn load(file: &Path) -> anyhow::Result<Blueprint> {
    Ok(source::load(&Source::File(file.to_owned()), LinkArgs::default())?.with_warnings_printed())
}

fn size(network: &Blueprint) -> String {
    let (switches, links, hosts) = (network.switches().len(), network.links().len(), network.hosts().len());
    format!("{switches} switches, {links} links, {hosts} hosts")
}

fn write(network: &Blueprint, Target { to, output }: &Target) -> anyhow::Result<()> {
    let text = match to {
        Format::Json => export::json(network),
        Format::NodeLink => export::node_link(network),
        Format::Dot => export::dot(network),
    };
    if text.len() > MAX_INPUT {
        warn!("this has {} MB; Braid reads files of up to {} MB", text.len() >> 20, MAX_INPUT >> 20);
    }
    match output {
        Some(path) => {
            let written = fs::write(path, text).with_context(|| format!("cannot write {}", path.display()));
            written.exit_with(Code::Failure)
        }
        None => output::text(&text),
    }
}

fn show(args: &Show) -> anyhow::Result<()> {
    let network = args.source.load()?;
    match args {
        Show { json: true, .. } => {
            output::json(&json!({ "schema": "braid/v1", "summary": Summary::of(&network) }))
        }
        Show { links: false, switches: false, hosts: false, .. } => {
            output::text(&figures(&Summary::of(&network)))
        }
        Show { links, switches, hosts, .. } => {
            let tables = [
                switches.then(|| switch_table(&network)),
                links.then(|| link_table(&network)),
                hosts.then(|| host_table(&network)),
            ];
            output::text(&tables.into_iter().flatten().collect::<Vec<_>>().join("\n"))
        }
    }
}

fn figures(summary: &Summary) -> String {
    let rows = [
        ("network", summary.name.clone()),
        ("switches", summary.switches.to_string()),
        ("hosts", format!("{} with {} interfaces", summary.hosts, summary.interfaces)),
        ("links", format!("{}, with {} directed links", summary.links, summary.directed_links)),
        ("degree", degree(summary)),
        ("diameter", diameter(summary.diameter)),
        ("components", summary.components.to_string()),
        (
            "capacity",
            summary.capacity_bps.map_or("-".to_owned(), |it| range(it, |bits| BitsPerSec(bits).to_string())),
        ),
        ("delay", delay(summary)),
    ];
    rows.iter().map(|(name, value)| format!("{name:12}{value}\n")).collect()
}

fn degree(summary: &Summary) -> String {
    let Some(degree) = &summary.degree else { return "-".to_owned() };
    format!("{} to {}, {:.1} on average", degree.min, degree.max, degree.mean)
}

fn diameter(diameter: Diameter) -> String {
    match diameter {
        Diameter::Hops(hops) => format!("{hops} hops"),
        Diameter::Unreachable => "none: some switches do not reach some others".to_owned(),
        Diameter::NotComputed => "not computed for a network of this size".to_owned(),
    }
}

fn delay(summary: &Summary) -> String {
    let Some(delays) = summary.delay_ns else { return "unknown".to_owned() };
    let range = range(delays, |nanos| Latency(Duration::from_nanos(nanos)).to_string());
    match summary.directed_links - summary.delays_known {
        0 => range,
        unknown => format!("{range}, unknown for {unknown} links"),
    }
}

fn range<T: PartialEq>(Range { min, max }: Range<T>, text: impl Fn(T) -> String) -> String {
    if min == max { text(min) } else { format!("{} to {}", text(min), text(max)) }
}

fn switch_table(network: &Blueprint) -> String {
    let (mut links, mut hosts) = (vec![0; network.switches().len()], vec![0; network.switches().len()]);
    network.links().iter().flat_map(|link| link.ends).for_each(|end| links[end.switch] += 1);
    let interfaces = network.hosts().iter().flat_map(|host| &host.interfaces);
    interfaces.for_each(|interface| hosts[interface.end.switch] += 1);
    let rows = network.switches().iter().zip(links.iter().zip(&hosts)).map(|(switch, (links, hosts))| {
        let position = switch.position.map(|at| format!("{:.2}, {:.2}", at.latitude(), at.longitude()));
        [
            switch.name.clone(),
            format::switch(switch.dpid),
            switch.group.clone().unwrap_or_else(|| "-".to_owned()),
            position.unwrap_or_else(|| "-".to_owned()),
            links.to_string(),
            hosts.to_string(),
        ]
    });
    table(["SWITCH", "DPID", "GROUP", "POSITION", "LINKS", "INTERFACES"], rows)
}

fn link_table(network: &Blueprint) -> String {
    let port = |at: SwitchPort| format!("{}:{}", network.name_of(at.dpid).unwrap_or_default(), at.port);
    let rows = network.directed_links().map(|(link, state)| {
        [
            port(link.src),
            port(link.dst),
            state.capacity.to_string(),
            format::list(state.delay.map(Latency), ""),
        ]
    });
    table(["FROM", "TO", "CAPACITY", "DELAY"], rows)
}

fn host_table(network: &Blueprint) -> String {
    let rows = network.hosts().iter().flat_map(|host| {
        host.interfaces.iter().map(|interface| {
            let switch = &network.switches()[interface.end.switch];
            let [up, down] = interface.states;
            [
                host.name.clone(),
                format!("{}:{}", switch.name, interface.end.port),
                up.capacity.to_string(),
                down.capacity.to_string(),
                format::list(up.delay.map(Latency), ""),
            ]
        })
    });
    table(["HOST", "AT", "UP", "DOWN", "DELAY"], rows)
}
