//! Checks of traffic: directions, tools, stream counts, lengths and background.

use std::time::Duration;

use serde_saphyr::Location;

use super::super::file;
use super::super::permutation;
use super::super::problem::Problems;
use super::super::{
    Assign, Background, Direction, Mode, OwnSettings, Protocol, Tool, Topology, Traffic, Work,
};
use super::{hosts, own, requests};
use crate::scenario::spanned::Spanned;

/// Durations in seconds: a shorter transfer is all slow start.
const DURATION_SECONDS: std::ops::RangeInclusive<u32> = 2..=3_600;
/// The limit of iperf3.
const MAX_STREAMS: u16 = 128;
const MAX_WARM_UP_SECONDS: u32 = 60;
const MAX_REPETITIONS: u16 = 100;
/// The limit of an assignment's paths.
const MAX_ASSIGNED_PATHS: u8 = 16;

/// Checks modes, directions and numbers.
pub(super) fn check(
    traffic: &file::Traffic,
    topology: &Topology,
    problems: &mut Problems,
) -> Option<Traffic> {
    check_lists(traffic, problems);
    if !DURATION_SECONDS.contains(&traffic.duration.value.0) {
        let what = format!("{} s is out of range", traffic.duration.value.0);
        let remedy = format!("give {}s to {}s", DURATION_SECONDS.start(), DURATION_SECONDS.end());
        problems.add(traffic.duration.referenced, "traffic.duration", what, remedy);
    }
    let streams = traffic.streams.as_ref();
    let streams = streams.map_or_else(|| vec![1], |it| check_streams(it, "traffic.streams", problems));
    let works = works(traffic, problems);
    let directions = directions(traffic, topology, problems);
    let all = traffic.background.iter().enumerate();
    let background = all
        .filter_map(|(index, it)| background(it, &format!("traffic.background[{index}]"), topology, problems))
        .collect();
    let requests = requests::check(traffic, topology, problems);
    let (duration, simultaneous) = (traffic.duration.value.into(), traffic.simultaneous);
    let modes = traffic.modes.value.clone();
    let (warm_up, repeat) = (warm_up(traffic, problems), repeat(traffic, problems));
    let assign = traffic.assign.as_ref();
    let assign = assign.map(|it| check_assign(it, &own::tools(traffic), "traffic.assign", problems));
    check_gridftp(traffic, &directions, problems);
    check_http3(traffic, problems);
    check_beginnings(traffic, warm_up + duration, problems);
    Some(Traffic {
        works,
        modes,
        directions,
        simultaneous,
        duration,
        warm_up,
        streams,
        repeat,
        cost: check_cost(traffic, problems),
        average: traffic.average,
        congestion_controls: hosts::congestion_controls(traffic, problems),
        background,
        requests,
        assign,
    })
}

/// Whether costs are measured, which they can be of TCP that has the machine to itself.
fn check_cost(traffic: &file::Traffic, problems: &mut Problems) -> bool {
    let Some(at) = traffic.cost.as_ref().filter(|it| it.value).map(|it| it.referenced) else { return false };
    let directions = traffic.directions.iter().flat_map(|it| &it.value);
    let mut modes =
        traffic.modes.value.iter().copied().chain(directions.filter_map(|it| Some(it.mode.as_ref()?.value)));
    if modes.any(|mode| matches!(mode, Mode::Udp | Mode::Quic)) {
        problems.add(
            at,
            "traffic.cost",
            "the sockets of UDP are not measured",
            "remove it, or measure TCP or MPTCP",
        );
    }
    if !traffic.background.is_empty() || !traffic.requests.is_empty() {
        let what = "other traffic would count in what the transfers cost";
        problems.add(at, "traffic.cost", what, "remove it, or background: and requests:");
    }
    true
}

fn directions(traffic: &file::Traffic, topology: &Topology, problems: &mut Problems) -> Vec<Direction> {
    let at = traffic.tool.referenced;
    match (&traffic.directions, &traffic.permutation) {
        (Some(directions), None) => listed(&directions.value, topology, problems),
        (None, Some(seed)) => permutation::directions(topology, seed.value).unwrap_or_else(|| {
            let what = "hosts send to each other only if there are two, with addresses of one family";
            problems.add(seed.referenced, "traffic.permutation", what, "give directions: instead");
            Vec::new()
        }),
        _ => {
            let what = "somebody has to send";
            problems.add(at, "traffic", what, "give either directions: or permutation:");
            Vec::new()
        }
    }
}

fn listed(directions: &[file::Direction], topology: &Topology, problems: &mut Problems) -> Vec<Direction> {
    let directions = directions.iter().enumerate();
    let checked = directions.filter_map(|(index, it)| {
        let key = format!("traffic.directions[{index}]");
        let own = own::check(it, &key, problems);
        let direction = direction([&it.from, &it.to], &key, topology, problems)?;
        own::check_family(it, &direction, &key, problems);
        Some(Direction { own, ..direction })
    });
    checked.collect()
}

pub(super) fn check_streams(
    streams: &Spanned<file::OneOrManyStreams>,
    key: &str,
    problems: &mut Problems,
) -> Vec<u16> {
    let numbers = streams.value.list();
    if numbers.is_empty() {
        let what = "the list is empty";
        problems.add(streams.referenced, key, what, "give at least one number");
    }
    for number in &numbers {
        check_number(*number, streams.referenced, key, problems);
    }
    numbers
}

/// Checks `assign`: only GridFTP's connections are announced, as iperf3's control connection would also take a path.
pub(super) fn check_assign(
    assign: &Spanned<file::Assign>,
    tools: &[Tool],
    key: &str,
    problems: &mut Problems,
) -> Assign {
    let file::Assign { paths, distribution } = assign.value;
    if tools.iter().any(|tool| *tool != Tool::Gridftp) {
        let what = "only the connections of gridftp are announced";
        problems.add(assign.referenced, key, what, "remove it, or take tool: gridftp");
    }
    if !(1..=MAX_ASSIGNED_PATHS).contains(&paths) {
        let what = format!("{paths} paths cannot be set aside");
        problems.add(assign.referenced, key, what, format!("give 1 to {MAX_ASSIGNED_PATHS}"));
    }
    Assign { paths, distribution }
}

/// Checks that cross traffic begins before the end of the transfer.
fn check_beginnings(traffic: &file::Traffic, length: Duration, problems: &mut Problems) {
    for (index, background) in traffic.background.iter().enumerate() {
        let after = background.after.as_ref().filter(|after| after.value.0 >= length);
        after.into_iter().for_each(|after| {
            let what = format!("the transfer has ended by then, after {} s", length.as_secs());
            problems.add(
                after.referenced,
                format!("traffic.background[{index}].after"),
                what,
                "give an earlier time",
            );
        });
    }
}

/// Checks GridFTP, which uses plain TCP over IPv4.
fn check_gridftp(traffic: &file::Traffic, directions: &[Direction], problems: &mut Problems) {
    let tools = &traffic.tool.value.0;
    let own = tools.iter().find(|tool| **tool == Tool::Gridftp || tool.is_got());
    if let Some(tool) = own.filter(|tool| **tool != Tool::Http3 && traffic.modes.value.contains(&Mode::Mptcp))
    {
        let at = traffic.modes.referenced;
        let what = format!("{tool} has connections of its own");
        problems.add(at, "traffic.modes", what, "give tcp alone");
    }
    if !tools.contains(&Tool::Gridftp) {
        return;
    }
    if directions.iter().any(|direction| direction.source.is_ipv6()) {
        let what = "gridftp is run over IPv4";
        problems.add(traffic.tool.referenced, "traffic.tool", what, "give the hosts IPv4 addresses");
    }
}

/// Checks that QUIC carries HTTP/3, and nothing else carries it.
fn check_http3(traffic: &file::Traffic, problems: &mut Problems) {
    let (tools, modes) = (&traffic.tool.value.0, &traffic.modes.value);
    let (some, all) = (tools.contains(&Tool::Http3), tools.iter().all(|tool| *tool == Tool::Http3));
    let at = traffic.modes.referenced;
    if some && modes.as_slice() != [Mode::Quic] {
        problems.add(at, "traffic.modes", "http3 goes over QUIC", "give quic alone");
    } else if !all && modes.contains(&Mode::Quic) {
        problems.add(at, "traffic.modes", "quic carries http3", "take tool: http3 alone");
    } else if some && own::directions(traffic).any(|it| it.mode.is_some() || it.tool.is_some()) {
        let what = "with http3, all directions have the same tool and mode";
        let remedy = "remove mode and tool from traffic.directions";
        problems.add(traffic.tool.referenced, "traffic.tool", what, remedy);
    }
}

fn warm_up(traffic: &file::Traffic, problems: &mut Problems) -> Duration {
    let Some(warm_up) = &traffic.warm_up else { return Duration::ZERO };
    let key = "traffic.warm_up";
    let has_time = |tool: &Tool| matches!(tool, Tool::Iperf3 | Tool::Http3);
    if traffic.bytes.is_some() && !traffic.tool.value.0.iter().any(has_time) {
        problems.add(warm_up.referenced, key, "a copy counts from its first byte on", "remove it");
    } else if warm_up.value.0 > MAX_WARM_UP_SECONDS {
        let what = format!("{} s is out of range", warm_up.value.0);
        problems.add(warm_up.referenced, key, what, format!("give 0s to {MAX_WARM_UP_SECONDS}s"));
    }
    warm_up.value.into()
}

fn repeat(traffic: &file::Traffic, problems: &mut Problems) -> u16 {
    let Some(repeat) = &traffic.repeat else { return 1 };
    if !(1..=MAX_REPETITIONS).contains(&repeat.value) {
        let what = format!("it cannot be done {} times", repeat.value);
        problems.add(repeat.referenced, "traffic.repeat", what, format!("give 1 to {MAX_REPETITIONS}"));
    }
    repeat.value
}

fn check_lists(traffic: &file::Traffic, problems: &mut Problems) {
    if traffic.modes.value.is_empty() {
        problems.add(
            traffic.modes.referenced,
            "traffic.modes",
            "the list is empty",
            "give tcp, mptcp or both",
        );
    }
    if traffic.modes.value.contains(&Mode::Udp) {
        let remedy = "give it to a direction such as { from: A, to: B, mode: udp, rate: 50Mbit }";
        problems.add(traffic.modes.referenced, "traffic.modes", "udp has a rate of its own", remedy);
    }
    if let Some(directions) = traffic.directions.as_ref().filter(|it| it.value.is_empty()) {
        let remedy = "give at least one such as { from: A, to: B }";
        problems.add(directions.referenced, "traffic.directions", "the list is empty", remedy);
    }
}

pub(super) fn check_number(streams: u16, at: Location, key: &str, problems: &mut Problems) {
    if !(1..=MAX_STREAMS).contains(&streams) {
        let what = format!("{streams} connections cannot be opened");
        problems.add(at, key, what, format!("give 1 to {MAX_STREAMS}"));
    }
}

/// The works in the order of the file: tools with lengths once for each length, others once.
fn works(traffic: &file::Traffic, problems: &mut Problems) -> Vec<Work> {
    let tools = &traffic.tool.value.0;
    check_one_connection(traffic, problems);
    if tools.is_empty() {
        problems.add(traffic.tool.referenced, "traffic.tool", "the list is empty", "give one such as iperf3");
    }
    let given = traffic.bytes.as_ref().map(|bytes| bytes.value.0.as_slice()).unwrap_or_default();
    match (tools.iter().find(|tool| tool.needs_bytes()), &traffic.bytes) {
        (Some(tool), _) if given.is_empty() => {
            let (at, what) = (traffic.tool.referenced, format!("{tool} carries so many bytes"));
            problems.add(at, "traffic.bytes", what, "give a number such as bytes: 200MB");
        }
        (None, Some(bytes)) if tools.contains(&Tool::Iperf3) => {
            let what = "iperf3 sends for a time, not so many bytes";
            problems.add(bytes.referenced, "traffic.bytes", what, "remove it, or take tool: copy");
        }
        _ => {}
    }
    let mut works = Vec::new();
    for tool in tools.iter().copied() {
        let each = given.iter().filter(|_| tool != Tool::Iperf3).map(|bytes| Work { tool, bytes: bytes.0 });
        let before = works.len();
        works.extend(each);
        if works.len() == before {
            works.push(Work { tool, bytes: 0 });
        }
    }
    works
}

/// Checks that tools with lengths use one connection, except for GridFTP.
fn check_one_connection(traffic: &file::Traffic, problems: &mut Problems) {
    let tool = traffic.tool.value.0.iter().find(|tool| tool.needs_bytes());
    let Some((tool, streams)) = tool.zip(traffic.streams.as_ref()) else { return };
    if streams.value.list() != [1] {
        let what = format!("{tool} has one connection");
        problems.add(streams.referenced, "traffic.streams", what, "remove it, or take tool: iperf3");
    }
}

fn background(
    background: &file::Background,
    key: &str,
    topology: &Topology,
    problems: &mut Problems,
) -> Option<Background> {
    if let Some(streams) = &background.streams {
        check_number(streams.value, streams.referenced, &format!("{key}.streams"), problems);
    }
    let streams = background.streams.as_ref().map_or(1, |streams| streams.value);
    let rate = background.rate.as_ref().map(|rate| rate.value);
    if let Some(rate) = background.rate.as_ref().filter(|rate| rate.value.0 < u64::from(streams)) {
        problems.add(rate.referenced, format!("{key}.rate"), "it is too low", "give one such as 50Mbit");
    }
    if background.protocol == Protocol::Udp && rate.is_none() {
        let what = "UDP takes as much as it is told";
        problems.add(background.from.referenced, key, what, "give a rate such as 50Mbit");
    }
    let direction = direction([&background.from, &background.to], key, topology, problems)?;
    let after = background.after.as_ref().map(|after| after.value.0);
    Some(Background { direction, streams, rate, protocol: background.protocol, after })
}

pub(super) fn direction(
    [from_name, to_name]: [&Spanned<String>; 2],
    key: &str,
    topology: &Topology,
    problems: &mut Problems,
) -> Option<Direction> {
    let from = host(from_name, &format!("{key}.from"), topology, problems);
    let to = host(to_name, &format!("{key}.to"), topology, problems);
    let (from, to) = (from?, to?);
    if from == to {
        let what = format!("{:?} would send to itself", to_name.value);
        problems.add(to_name.referenced, format!("{key}.to"), what, "name two hosts");
        return None;
    }
    let Some((source, destination)) = topology.first_pair(from, to) else {
        let what = "the two hosts have no addresses of one family".to_owned();
        problems.add(to_name.referenced, key, what, "give both an IPv4 address, or both an IPv6 one");
        return None;
    };
    Some(Direction { from, to, source, destination, own: OwnSettings::default() })
}

fn host(name: &Spanned<String>, key: &str, topology: &Topology, problems: &mut Problems) -> Option<usize> {
    let found = topology.hosts.iter().position(|host| host.name == name.value);
    let is_box = |host: usize| topology.sites.as_ref().is_some_and(|sites| sites.boxes.contains(&host));
    let what = match found {
        None => format!("there is no host {:?}", name.value),
        Some(host) if is_box(host) => format!("{:?} is a site, which passes packets of others", name.value),
        Some(_) => return found,
    };
    problems.add(name.referenced, key, what, "name one of topology.hosts");
    None
}
