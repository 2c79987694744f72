use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use braid_edge::{ClientError, GroupStatistics, Tuner};
use braid_openflow::GroupId;
use braid_spray::{HoldTime, Policy, Settings};
use braid_switch::extension::{Extension, PathUpdate};
use braid_switch::{Ends, PathStatistics};
use braid_types::BitsPerSec;
use clap::{Subcommand, ValueEnum};

use crate::exit::{Code, error};
use crate::{output, table};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// A select group decides for each packet, by the weights of its buckets
    Spray(Spray),
    /// Change the shares of a group's buckets, while packets pass
    Paths(Paths),
    /// An indirect group puts TCP in order
    Order(Order),
    /// Put what is not TCP into GRE with numbers, or take it out, so that it can be put in order too
    Tunnel(TunnelArgs),
    /// What a group that sprays or puts in order has done, and what each of its paths has carried
    Show(Show),
}

#[derive(clap::Args)]
struct Target {
    /// The number of the group
    group: u32,
    /// Where the edge listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6634", env = "BRAID_EDGE")]
    edge: SocketAddr,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Spray {
    #[command(flatten)]
    target: Target,
    /// How paths are chosen
    #[arg(long, value_enum, default_value = "weighted")]
    policy: Choice,
    /// Bytes by one path in a row, for weighted; 0: each packet by itself
    #[arg(long, value_name = "BYTES", default_value_t = 12_000)]
    burst: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    /// By weights, in bursts
    Weighted,
    /// Each packet by the path on which it arrives first; needs rates and delays of `paths`
    DelayAware,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Paths {
    #[command(flatten)]
    target: Target,
    /// A bucket, from 0, its weight (0: nothing), what it carries and how long it takes: 1=50,rate=50Mbit,delay=10ms
    #[arg(long = "path", value_name = "BUCKET=WEIGHT[,rate=RATE][,delay=MILLISECONDSms]", required = true)]
    paths: Vec<String>,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Order {
    #[command(flatten)]
    target: Target,
    /// Stop it
    #[arg(long)]
    off: bool,
    /// When a flow holds more bytes, all of them go
    #[arg(long, value_name = "BYTES", default_value_t = Settings::default().threshold)]
    threshold: u32,
    /// How long packets wait at least and at most, as long as nothing was measured; equal: exactly so long
    #[arg(long, value_name = "MILLISECONDS", num_args = 2, default_values_t = [5, 100])]
    hold: Vec<u64>,
    /// Over how many paths a flow comes; 0 if they do not keep their order
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    paths: u8,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct TunnelArgs {
    #[command(flatten)]
    target: Target,
    /// Of a group that sprays, the ends of each bucket's path, in their order; none for a group that puts in order
    #[arg(long = "path", value_name = "SRC,DST", conflicts_with = "off")]
    paths: Vec<String>,
    /// Stop it
    #[arg(long)]
    off: bool,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Show {
    #[command(flatten)]
    target: Target,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Spray(args) => {
            let policy = match args.policy {
                Choice::Weighted => Policy::Weighted { burst: args.burst },
                Choice::DelayAware => Policy::DelayAware,
            };
            set(&args.target, |group| Extension::SetSpray { group, policy })
        }
        Command::Paths(args) => {
            let paths = args.paths.iter().map(|text| path(text)).collect::<anyhow::Result<Vec<_>>>()?;
            set(&args.target, |group| Extension::SetPaths { group, paths: paths.clone() })
        }
        Command::Order(args) => {
            let settings = (!args.off).then(|| settings(&args)).transpose()?;
            set(&args.target, |group| Extension::SetOrder { group, settings })
        }
        Command::Tunnel(args) => {
            let ends = args.paths.iter().map(|text| ends(text)).collect::<anyhow::Result<Vec<_>>>()?;
            let ends = (!args.off).then_some(ends);
            set(&args.target, |group| Extension::SetTunnel { group, ends: ends.clone() })
        }
        Command::Show(args) => show(&args),
    }
}

fn set(target: &Target, extension: impl Fn(GroupId) -> Extension) -> anyhow::Result<()> {
    let set = Tuner::connect(target.edge).and_then(|mut tuner| tuner.set(&extension(GroupId(target.group))));
    set.map_err(|problem| refused(target, &problem))
}

fn show(args: &Show) -> anyhow::Result<()> {
    let target = &args.target;
    let (GroupStatistics(numbers), paths) = ask(target).map_err(|problem| refused(target, &problem))?;
    if args.json {
        let numbers: serde_json::Map<_, _> =
            numbers.into_iter().map(|(name, number)| (name.to_owned(), number.into())).collect();
        let paths: Vec<_> = paths.iter().map(path_json).collect();
        return output::json(&serde_json::json!({ "schema": "braid/v1", "group": numbers, "paths": paths }));
    }
    output::text(&table::table(PATH_COLUMNS, paths.iter().map(path_row)))?;
    if numbers.is_empty() {
        return Ok(());
    }
    let rows = numbers.into_iter().map(|(name, number)| [name.to_owned(), number.to_string()]);
    output::text(&table::table(["WHAT", "HOW MUCH"], rows))
}

/// The numbers of a group that puts in order, and the paths of any.
fn ask(target: &Target) -> Result<(GroupStatistics, Vec<PathStatistics>), ClientError> {
    let mut tuner = Tuner::connect(target.edge)?;
    let group = GroupId(target.group);
    let paths = tuner.paths(group)?;
    match tuner.statistics(group) {
        Ok(numbers) => Ok((numbers, paths)),
        // It sprays.
        Err(ClientError::Refused(_)) => Ok((GroupStatistics(Vec::new()), paths)),
        Err(problem) => Err(problem),
    }
}

const PATH_COLUMNS: [&str; 9] =
    ["PORT", "LABEL", "PACKETS", "BYTES", "SHARE", "LATE", "QUEUE", "ROUND TRIP", "STATE"];

fn path_row(path: &PathStatistics) -> [String; 9] {
    let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    [
        path.port.to_string(),
        path.label.to_string(),
        path.packets.to_string(),
        path.bytes.to_string(),
        format!("{:.1} %", path.share_ppm as f64 / 1e4),
        path.late.to_string(),
        millis(path.queue),
        millis(path.round_trip),
        if path.is_dead { "silent" } else { "up" }.to_owned(),
    ]
}

fn path_json(path: &PathStatistics) -> serde_json::Value {
    serde_json::json!({
        "port": path.port.0,
        "label": path.label.to_string(),
        "packets": path.packets,
        "bytes": path.bytes,
        "late": path.late,
        "share": path.share_ppm as f64 / 1e6,
        "is_dead": path.is_dead,
        "queue_s": path.queue.as_secs_f64(),
        "round_trip_s": path.round_trip.as_secs_f64(),
        "loss": path.loss_ppm as f64 / 1e6,
    })
}

fn refused(target: &Target, problem: &ClientError) -> anyhow::Error {
    use braid_openflow::{ErrorCode, GroupModFailedCode::UnknownGroup};
    let group = target.group;
    match problem {
        ClientError::Refused(ErrorCode::GroupModFailed(UnknownGroup)) => error(
            Code::NotFound,
            format!("the edge has no group {group} of that kind; add it with ovs-ofctl add-group"),
        ),
        problem => error(Code::Failure, format!("group {group}: {problem}")),
    }
}

fn settings(args: &Order) -> anyhow::Result<Settings> {
    let [least, most] = [0, 1].map(|place| Duration::from_millis(args.hold.get(place).copied().unwrap_or(0)));
    let hold = HoldTime::Measured { least, most };
    let settings = Settings { threshold: args.threshold, hold, paths: args.paths, ..Settings::default() };
    settings.check().map_err(|problem| error(Code::Usage, problem))?;
    Ok(settings)
}

fn ends(text: &str) -> anyhow::Result<Ends> {
    let addresses = text.split_once(',').and_then(|(src, dst)| Some((src.parse().ok()?, dst.parse().ok()?)));
    let ends = addresses.map(|(src, dst): (IpAddr, IpAddr)| Ends { src, dst });
    ends.filter(|ends| ends.src.is_ipv4() == ends.dst.is_ipv4()).ok_or_else(|| {
        error(Code::Usage, format!("`{text}` is no pair of addresses; give one such as 192.0.2.6,192.0.2.70"))
    })
}

fn path(text: &str) -> anyhow::Result<PathUpdate> {
    let bad =
        || error(Code::Usage, format!("`{text}` is no path; give one such as 1=50,rate=50Mbit,delay=10ms"));
    let mut words = text.split(',');
    let (bucket, weight) = words.next().and_then(|word| word.split_once('=')).ok_or_else(bad)?;
    let (bucket, weight) = (bucket.parse().map_err(|_| bad())?, weight.parse().map_err(|_| bad())?);
    let mut update = PathUpdate { bucket, weight, rate: None, delay: Duration::ZERO };
    for word in words {
        match word.split_once('=') {
            Some(("rate", rate)) => update.rate = Some(rate.parse::<BitsPerSec>().map_err(|_| bad())?),
            Some(("delay", delay)) => {
                let millis = delay.strip_suffix("ms").and_then(|it| it.parse::<f64>().ok());
                let seconds = millis.filter(|it| (0.0..=60_000.0).contains(it)).ok_or_else(bad)? / 1_000.0;
                update.delay = Duration::from_secs_f64(seconds);
            }
            _ => return Err(bad()),
        }
    }
    Ok(update)
}
