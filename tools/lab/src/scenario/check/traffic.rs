use std::time::Duration;

use serde_saphyr::{Location, Spanned};

use super::super::file::{self, File};
use super::super::permutation;
use super::super::problem::Problems;
use super::super::{Background, Direction, Expectation, Limit, Metric, Tool, Topology, Traffic};
use super::variants;

/// A transfer shorter than this is all slow start; a longer one is no scenario.
const SECONDS: std::ops::RangeInclusive<u32> = 2..=3_600;
/// What iperf3 accepts.
const MOST_STREAMS: u16 = 128;
const MOST_WARM_UP: u32 = 60;
const MOST_RUNS: u16 = 100;

/// Modes, directions between hosts that exist, sane numbers.
pub(super) fn check(
    traffic: &file::Traffic,
    topology: &Topology,
    problems: &mut Problems,
) -> Option<Traffic> {
    check_lists(traffic, problems);
    if !SECONDS.contains(&traffic.duration.value.0) {
        let what = format!("{} s is out of range", traffic.duration.value.0);
        let remedy = format!("give {}s to {}s", SECONDS.start(), SECONDS.end());
        problems.add(traffic.duration.referenced, "traffic.duration", what, remedy);
    }
    let streams = streams(traffic, problems);
    let bytes = check_bytes(traffic, problems);
    let directions = directions(traffic, topology, problems);
    let all = traffic.background.iter().enumerate();
    let background = all
        .filter_map(|(index, it)| background(it, &format!("traffic.background[{index}]"), topology, problems))
        .collect();
    let (tool, duration, together) = (traffic.tool.value, traffic.duration.value.into(), traffic.together);
    let modes = traffic.modes.value.clone();
    let (warm_up, repeat) = (warm_up(traffic, problems), repeat(traffic, problems));
    Some(Traffic { tool, modes, directions, together, duration, warm_up, bytes, streams, repeat, background })
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
        direction([&it.from, &it.to], &format!("traffic.directions[{index}]"), topology, problems)
    });
    checked.collect()
}

fn streams(traffic: &file::Traffic, problems: &mut Problems) -> Vec<u16> {
    let Some(streams) = &traffic.streams else { return vec![1] };
    let numbers = streams.value.list();
    if numbers.is_empty() {
        let what = "the list is empty";
        problems.add(streams.referenced, "traffic.streams", what, "give at least one number");
    }
    for number in &numbers {
        check_streams(*number, streams.referenced, "traffic.streams", problems);
    }
    numbers
}

fn warm_up(traffic: &file::Traffic, problems: &mut Problems) -> Duration {
    let Some(warm_up) = &traffic.warm_up else { return Duration::ZERO };
    let key = "traffic.warm_up";
    if traffic.tool.value == Tool::Copy {
        problems.add(warm_up.referenced, key, "a copy counts from its first byte on", "remove it");
    } else if warm_up.value.0 > MOST_WARM_UP {
        let what = format!("{} s is out of range", warm_up.value.0);
        problems.add(warm_up.referenced, key, what, format!("give 0s to {MOST_WARM_UP}s"));
    }
    warm_up.value.into()
}

fn repeat(traffic: &file::Traffic, problems: &mut Problems) -> u16 {
    let Some(repeat) = &traffic.repeat else { return 1 };
    if !(1..=MOST_RUNS).contains(&repeat.value) {
        let what = format!("it cannot be done {} times", repeat.value);
        problems.add(repeat.referenced, "traffic.repeat", what, format!("give 1 to {MOST_RUNS}"));
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
    if let Some(directions) = traffic.directions.as_ref().filter(|it| it.value.is_empty()) {
        let remedy = "give at least one such as { from: A, to: B }";
        problems.add(directions.referenced, "traffic.directions", "the list is empty", remedy);
    }
}

fn check_streams(streams: u16, at: Location, key: &str, problems: &mut Problems) {
    if !(1..=MOST_STREAMS).contains(&streams) {
        let what = format!("{streams} connections cannot be opened");
        problems.add(at, key, what, format!("give 1 to {MOST_STREAMS}"));
    }
}

/// A copy is as long as it is told to be, and one connection; iperf3 takes its time.
fn check_bytes(traffic: &file::Traffic, problems: &mut Problems) -> u64 {
    let is_copy = traffic.tool.value == Tool::Copy;
    if let Some(streams) = traffic.streams.as_ref().filter(|it| is_copy && it.value.list() != [1]) {
        let what = "a copy is one connection";
        problems.add(streams.referenced, "traffic.streams", what, "remove it, or take tool: iperf3");
    }
    match &traffic.bytes {
        None if is_copy => {
            let at = traffic.tool.referenced;
            problems.add(at, "traffic.bytes", "a copy has a length", "give one such as bytes: 200MB");
        }
        Some(bytes) if !is_copy => {
            let what = "iperf3 sends for a time, not so many bytes";
            problems.add(bytes.referenced, "traffic.bytes", what, "remove it, or take tool: copy");
        }
        _ => {}
    }
    traffic.bytes.as_ref().map_or(0, |bytes| bytes.value.0)
}

fn background(
    background: &file::Background,
    key: &str,
    topology: &Topology,
    problems: &mut Problems,
) -> Option<Background> {
    if let Some(streams) = &background.streams {
        check_streams(streams.value, streams.referenced, &format!("{key}.streams"), problems);
    }
    let streams = background.streams.as_ref().map_or(1, |streams| streams.value);
    let rate = background.rate.as_ref().map(|rate| rate.value);
    if let Some(rate) = background.rate.as_ref().filter(|rate| rate.value.0 < u64::from(streams)) {
        problems.add(rate.referenced, format!("{key}.rate"), "it is too low", "give one such as 50Mbit");
    }
    let direction = direction([&background.from, &background.to], key, topology, problems)?;
    Some(Background { direction, streams, rate })
}

fn direction(
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
    Some(Direction { from, to, source, destination })
}

fn host(name: &Spanned<String>, key: &str, topology: &Topology, problems: &mut Problems) -> Option<usize> {
    let found = topology.hosts.iter().position(|host| host.name == name.value);
    if found.is_none() {
        let what = format!("there is no host {:?}", name.value);
        problems.add(name.referenced, key, what, "name one of topology.hosts");
    }
    found
}

/// Exactly one limit each, about modes that run.
pub(super) fn expectations(file: &File, problems: &mut Problems) -> Vec<Expectation> {
    if let (Some(first), None) = (file.expect.first(), &file.traffic) {
        problems.add(first.referenced, "expect", "nothing runs that could be measured", "add traffic:");
    }
    let all = file.expect.iter().enumerate();
    all.filter_map(|(index, it)| expectation(it, &format!("expect[{index}]"), file, problems)).collect()
}

fn expectation(
    expect: &Spanned<file::Expect>,
    key: &str,
    file: &File,
    problems: &mut Problems,
) -> Option<Expectation> {
    let it = &expect.value;
    check_mode(it.mode.as_ref(), &format!("{key}.mode"), file, problems);
    check_metric(&it.value, &format!("{key}.value"), file, problems);
    variants::check_name(it.variant.as_ref(), &format!("{key}.variant"), file, problems);
    variants::check_name(it.relative_to.as_ref(), &format!("{key}.relative_to"), file, problems);
    let limit = match (it.at_least, it.at_most) {
        (Some(limit), None) => Limit::AtLeast(limit),
        (None, Some(limit)) => Limit::AtMost(limit),
        _ => {
            let what = "an expectation has one limit";
            problems.add(expect.referenced, key, what, "give either at_least or at_most");
            return None;
        }
    };
    Some(Expectation {
        name: it.name.value.clone(),
        value: it.value.value,
        mode: it.mode.as_ref().map(|it| it.value),
        variant: it.variant.as_ref().map(|it| it.value.clone()),
        relative_to: it.relative_to.as_ref().map(|it| it.value.clone()),
        limit,
    })
}

fn check_mode(mode: Option<&Spanned<super::super::Mode>>, key: &str, file: &File, problems: &mut Problems) {
    let (Some(mode), Some(traffic)) = (mode, &file.traffic) else { return };
    if !traffic.modes.value.contains(&mode.value) {
        let what = format!("{} is not among traffic.modes", mode.value);
        problems.add(mode.referenced, key, what, "add it there, or name another mode");
    }
}

fn check_metric(value: &Spanned<Metric>, key: &str, file: &File, problems: &mut Problems) {
    let is_copy = file.traffic.as_ref().is_none_or(|traffic| traffic.tool.value == Tool::Copy);
    let has_background = file.traffic.as_ref().is_none_or(|traffic| !traffic.background.is_empty());
    if value.value == Metric::BackgroundShare && !has_background {
        let what = "there is nothing in the background";
        problems.add(value.referenced, key, what, "add traffic.background, or expect something else");
    }
    if value.value.is_of_copies() && !is_copy {
        let what = "iperf3 does not compare what it sends with what arrives";
        problems.add(value.referenced, key, what, "take tool: copy, or expect something else");
    }
}
