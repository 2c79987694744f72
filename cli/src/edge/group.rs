//! `braid edge` commands that set groups to spray, resequence or tunnel, and show them.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use braid_edge::{ClientError, GroupClient};
use braid_edge_protocol::Ends;
use braid_edge_protocol::extension::{Extension, PathUpdate};
use braid_edge_protocol::telemetry::{ArrivalReport, PathReport, PathState, Report, ResequenceReport};
use braid_link_model::Delay;
use braid_openflow::GroupId;
use braid_spray::{HoldTime, Policy, Settings};
use braid_types::BitsPerSec;
use clap::{Subcommand, ValueEnum};

use crate::exit::{Code, ExitWith, error};
use crate::{listen, output, table};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a select group spray: choose a bucket for each packet, not for each flow
    Spray(Spray),
    /// Change the weights of a spray group's buckets at run time
    Paths(Paths),
    /// Make an indirect group resequence TCP
    Resequence(Resequence),
    /// Encapsulate IP traffic other than TCP in GRE with sequence numbers, so that it can be resequenced too
    Tunnel(TunnelArgs),
    /// Show the counters of a spraying or resequencing group and of each of its paths
    Show(Show),
}

#[derive(clap::Args)]
struct Target {
    /// The group's number
    group: u32,
    /// The address that the edge listens on (`braid edge run --listen`)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6634", value_parser = listen::address, env = "BRAID_EDGE")]
    edge: SocketAddr,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Spray {
    #[command(flatten)]
    target: Target,
    /// The scheduler, which chooses the path of each packet
    #[arg(long, value_enum, default_value = "weighted")]
    scheduler: Scheduler,
    /// Bytes sent on one path before the next one, for weighted; 0: one packet
    #[arg(long, value_name = "BYTES", default_value_t = 12_000)]
    burst: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scheduler {
    /// Paths in proportion to their weights, in bursts
    Weighted,
    /// The path on which the packet arrives first; needs rates and delays (`braid edge group paths`)
    DelayAware,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Paths {
    #[command(flatten)]
    target: Target,
    /// A bucket, counted from 0, its weight (0: unused), its path's rate and delay: 1=50,rate=50Mbit,delay=10ms
    #[arg(long = "path", value_name = "BUCKET=WEIGHT[,rate=RATE][,delay=TIME]", required = true)]
    paths: Vec<String>,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Resequence {
    #[command(flatten)]
    target: Target,
    /// Turn resequencing off
    #[arg(long)]
    off: bool,
    /// Bytes that a flow may hold; beyond them, all of its packets are released
    #[arg(long, value_name = "BYTES", default_value_t = Settings::default().threshold)]
    max_bytes: u32,
    /// The shortest and longest hold time until delays have been measured; equal: a fixed hold time
    #[arg(long, value_names = ["MIN_MS", "MAX_MS"], num_args = 2, default_values_t = [5, 100])]
    hold: Vec<u64>,
    /// Number of paths that a flow arrives on; 0 if paths reorder packets themselves
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    paths: u8,
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct TunnelArgs {
    #[command(flatten)]
    target: Target,
    /// For a spray group, the tunnel ends of each bucket's path, in bucket order. For a resequencing group, the ends as they
    /// arrive, the other edge's address first
    #[arg(long = "path", value_name = "SRC,DST", required_unless_present_any = ["from_any", "off"])]
    paths: Vec<String>,
    /// Take packets out whoever sent them, for a resequencing group on paths that nobody else can send into
    #[arg(long, conflicts_with = "paths")]
    from_any: bool,
    /// Turn encapsulation off
    #[arg(long, conflicts_with_all = ["paths", "from_any"])]
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
            let policy = match args.scheduler {
                Scheduler::Weighted => Policy::Weighted { burst: args.burst },
                Scheduler::DelayAware => Policy::DelayAware,
            };
            set(&args.target, |group| Extension::SetSpray { group, policy })
        }
        Command::Paths(args) => {
            let paths = args.paths.iter().map(|text| path(text)).collect::<anyhow::Result<Vec<_>>>()?;
            set(&args.target, |group| Extension::SetPaths { group, paths: paths.clone() })
        }
        Command::Resequence(args) => {
            let settings = (!args.off).then(|| settings(&args)).transpose()?;
            set(&args.target, |group| Extension::SetResequence { group, settings })
        }
        Command::Tunnel(args) => {
            let paths = args.paths.iter().map(|text| ends(text)).collect::<anyhow::Result<Vec<_>>>()?;
            let ends = (!args.off).then_some(if args.from_any { Ends::ANY.to_vec() } else { paths });
            set(&args.target, |group| Extension::SetTunnel { group, ends: ends.clone() })
        }
        Command::Show(args) => show(&args),
    }
}

fn set(target: &Target, extension: impl Fn(GroupId) -> Extension) -> anyhow::Result<()> {
    let set = GroupClient::connect(target.edge)
        .and_then(|mut client| client.set(&extension(GroupId(target.group))));
    set.map_err(|problem| refused(target, &problem))
}

fn show(args: &Show) -> anyhow::Result<()> {
    let target = &args.target;
    let report =
        GroupClient::connect(target.edge).and_then(|mut client| client.report(GroupId(target.group)));
    let report = report.map_err(|problem| refused(target, &problem))?.ok_or_else(|| plain(target))?;
    if args.json {
        return output::json(&serde_json::json!({ "schema": "braid/v1", "group": report }));
    }
    match report {
        Report::Spray(spray) => {
            let whole: u64 = spray.paths.iter().map(|path| u64::from(path.weight)).sum();
            let rows = spray.paths.iter().enumerate().map(|(bucket, path)| path_row(bucket, path, whole));
            output::text(&table::table(PATH_COLUMNS, rows))
        }
        Report::Resequence(order) => {
            let whole = order.arrivals.iter().map(|it| it.bytes).sum();
            output::text(&table::table(
                ARRIVAL_COLUMNS,
                order.arrivals.iter().map(|it| arrival_row(it, whole)),
            ))?;
            let rows = numbers(&order).map(|(name, number)| [name.to_owned(), number.to_string()]);
            output::text(&table::table(["COUNTER", "VALUE"], rows))
        }
    }
}

const PATH_COLUMNS: [&str; 10] =
    ["BUCKET", "LABEL", "PACKETS", "BYTES", "SHARE", "QUEUE", "ROUND TRIP", "LOSS", "SILENCES", "STATE"];

fn path_row(bucket: usize, path: &PathReport, whole: u64) -> [String; 10] {
    let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let state = match path.state {
        PathState::Active => "active",
        PathState::Silent => "silent",
        PathState::Down => "down",
        PathState::Suspended => "suspended",
    };
    [
        bucket.to_string(),
        path.label.to_string(),
        path.packets.to_string(),
        path.bytes.to_string(),
        percent(path.weight.into(), whole),
        millis(path.queue),
        path.round_trip.map_or_else(|| "-".to_owned(), millis),
        format!("{:.2} %", path.loss * 1e2),
        path.silences.to_string(),
        state.to_owned(),
    ]
}

const ARRIVAL_COLUMNS: [&str; 6] = ["PORT", "LABEL", "PACKETS", "BYTES", "SHARE", "LATE"];

fn arrival_row(arrival: &ArrivalReport, whole: u64) -> [String; 6] {
    [
        arrival.port.to_string(),
        arrival.label.to_string(),
        arrival.packets.to_string(),
        arrival.bytes.to_string(),
        percent(arrival.bytes, whole),
        arrival.late.to_string(),
    ]
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", part as f64 * 1e2 / whole.max(1) as f64)
}

/// The counters, contents and limits of a resequencing group.
fn numbers(order: &ResequenceReport) -> impl Iterator<Item = (&'static str, u64)> {
    let ResequenceReport { counters, gauge, limits, .. } = order;
    let hold_nanos = u64::try_from(order.hold_time.as_nanos()).unwrap_or(u64::MAX);
    [
        ("forwarded", counters.forwarded),
        ("held", counters.held),
        ("unknown", counters.unknown),
        ("stray", counters.stray),
        ("old", counters.old),
        ("spurious", counters.spurious),
        ("gaps_filled", counters.gaps_filled),
        ("gaps_passed", counters.gaps_passed),
        ("gaps_timed_out", counters.gaps_timed_out),
        ("gaps_over_threshold", counters.gaps_over_threshold),
        ("gaps_overflowed", counters.gaps_overflowed),
        ("gaps_ended", counters.gaps_ended),
        ("total_hold_nanos", counters.waited_nanos),
        ("max_hold_nanos", counters.longest_nanos),
        ("max_packets", counters.max_packets.into()),
        ("max_bytes", counters.max_bytes),
        ("flows_now", gauge.flows.into()),
        ("packets_now", gauge.packets.into()),
        ("bytes_now", gauge.bytes),
        ("hold_time_nanos", hold_nanos),
        ("packet_limit", limits.packets),
        ("byte_limit", limits.bytes),
        ("flow_byte_limit", limits.flow_bytes),
    ]
    .into_iter()
}

fn refused(target: &Target, problem: &ClientError) -> anyhow::Error {
    use braid_openflow::{ErrorCode, GroupModFailedCode::UnknownGroup};
    match problem {
        ClientError::Refused(ErrorCode::GroupModFailed(UnknownGroup)) => unknown(target),
        problem => error(Code::Failure, format!("group {}: {problem}", target.group)),
    }
}

fn unknown(target: &Target) -> anyhow::Error {
    let group = target.group;
    let text = format!("the edge has no such group {group}: add it with ovs-ofctl add-group");
    error(Code::NotFound, text)
}

/// The edge may have a group of this number; only those that spray or resequence have more to show.
fn plain(target: &Target) -> anyhow::Error {
    let (group, edge) = (target.group, target.edge);
    let text = format!(
        "no group {group} of the edge sprays or resequences: `ovs-ofctl -O OpenFlow13 dump-groups tcp:{edge}` lists all groups"
    );
    error(Code::NotFound, text)
}

fn settings(args: &Resequence) -> anyhow::Result<Settings> {
    let [least, most] = [0, 1].map(|place| Duration::from_millis(args.hold.get(place).copied().unwrap_or(0)));
    let hold = HoldTime::Measured { least, most };
    let settings = Settings { threshold: args.max_bytes, hold, paths: args.paths, ..Settings::default() };
    settings.check().map_err(|problem| error(Code::Usage, problem))?;
    Ok(settings)
}

fn ends(text: &str) -> anyhow::Result<Ends> {
    let addresses = text.split_once(',').and_then(|(src, dst)| Some((src.parse().ok()?, dst.parse().ok()?)));
    let ends = addresses.map(|(src, dst): (IpAddr, IpAddr)| Ends { src, dst });
    ends.filter(|ends| ends.src.is_ipv4() == ends.dst.is_ipv4() && !ends.is_any()).ok_or_else(|| {
        error(
            Code::Usage,
            format!("`{text}` is not a pair of addresses: give one such as 192.0.2.6,192.0.2.70"),
        )
    })
}

fn path(text: &str) -> anyhow::Result<PathUpdate> {
    let bad = || {
        error(Code::Usage, format!("`{text}` is not a path: give one such as 1=50,rate=50Mbit,delay=10ms"))
    };
    let mut words = text.split(',');
    let (bucket, weight) = words.next().and_then(|word| word.split_once('=')).ok_or_else(bad)?;
    let (bucket, weight) = (bucket.parse().map_err(|_| bad())?, weight.parse().map_err(|_| bad())?);
    let mut update = PathUpdate { bucket, weight, rate: None, delay: Duration::ZERO };
    for word in words {
        match word.split_once('=') {
            Some(("rate", rate)) => update.rate = Some(rate.parse::<BitsPerSec>().exit_with(Code::Usage)?),
            Some(("delay", delay)) => {
                update.delay = delay.parse::<Delay>().exit_with(Code::Usage)?.duration();
            }
            _ => return Err(bad()),
        }
    }
    Ok(update)
}
