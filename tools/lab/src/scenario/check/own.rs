//! Checks of the settings that one direction has for itself.

use serde_saphyr::Location;

use super::super::file;
use super::super::problem::Problems;
use super::super::{Direction, Mode, OwnSettings, Tool};
use super::traffic::check_number;

/// A place of the file for problems: the key of a direction.
struct Place<'a> {
    direction: &'a file::Direction,
    key: &'a str,
}

/// Checks what a direction sets for itself.
pub(super) fn check(direction: &file::Direction, key: &str, problems: &mut Problems) -> OwnSettings {
    let place = Place { direction, key };
    check_tool(&place, problems);
    check_mode(&place, problems);
    check_rate(&place, problems);
    if let Some(streams) = &direction.streams {
        check_number(streams.value, streams.referenced, &format!("{key}.streams"), problems);
    }
    OwnSettings {
        mode: direction.mode.as_ref().map(|mode| mode.value),
        tool: direction.tool.as_ref().map(|tool| tool.value),
        streams: direction.streams.as_ref().map(|streams| streams.value),
        rate: direction.rate.as_ref().map(|rate| rate.value),
    }
}

/// Checks that a direction whose tool is GridFTP is one of IPv4.
pub(super) fn check_family(given: &file::Direction, found: &Direction, key: &str, problems: &mut Problems) {
    let Some(tool) = given.tool.as_ref().filter(|tool| tool.value == Tool::Gridftp) else { return };
    if found.source.is_ipv6() {
        let what = "gridftp is run over IPv4";
        problems.add(tool.referenced, format!("{key}.tool"), what, "give the hosts IPv4 addresses");
    }
}

/// The tools of all transfers: those of directions, or the traffic's.
pub(super) fn tools(traffic: &file::Traffic) -> Vec<Tool> {
    let own: Vec<_> = directions(traffic).filter_map(|it| it.tool.as_ref().map(|tool| tool.value)).collect();
    if own.is_empty() { traffic.tool.value.0.clone() } else { own }
}

/// The directions that are listed.
pub(super) fn directions(traffic: &file::Traffic) -> impl Iterator<Item = &file::Direction> {
    traffic.directions.iter().flat_map(|directions| &directions.value)
}

fn check_tool(place: &Place<'_>, problems: &mut Problems) {
    let Some(tool) = &place.direction.tool else { return };
    if tool.value.needs_bytes() {
        let what = format!("{} carries so many bytes", tool.value);
        problems.add(
            tool.referenced,
            place.at("tool"),
            what,
            "give it as traffic.tool, or take iperf3 or gridftp",
        );
    }
    if tool.value == Tool::Gridftp && place.mode() != Some(Mode::Tcp) {
        let what = "gridftp has connections of its own";
        problems.add(tool.referenced, place.at("tool"), what, "give this direction mode: tcp");
    }
}

/// A direction has no file to get, which is all that QUIC carries.
fn check_mode(place: &Place<'_>, problems: &mut Problems) {
    if let Some(mode) = place.direction.mode.as_ref().filter(|mode| mode.value == Mode::Quic) {
        let remedy = "give traffic.tool: http3 with traffic.modes: [quic]";
        problems.add(mode.referenced, place.at("mode"), "quic carries http3", remedy);
    }
}

fn check_rate(place: &Place<'_>, problems: &mut Problems) {
    let is_udp = place.mode() == Some(Mode::Udp);
    match &place.direction.rate {
        None if is_udp => {
            let what = "UDP takes as much as it is told";
            problems.add(place.mode_at(), place.at("mode"), what, "give a rate such as rate: 50Mbit");
        }
        Some(rate) if !is_udp => {
            let what = "TCP finds its rate by itself";
            problems.add(rate.referenced, place.at("rate"), what, "remove it, or give mode: udp");
        }
        Some(rate) if rate.value.0 < u64::from(u16::MAX) => {
            problems.add(rate.referenced, place.at("rate"), "it is too low", "give one such as 50Mbit");
        }
        _ => {}
    }
}

impl Place<'_> {
    fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.key)
    }

    fn mode(&self) -> Option<Mode> {
        self.direction.mode.as_ref().map(|mode| mode.value)
    }

    fn mode_at(&self) -> Location {
        self.direction.mode.as_ref().map_or(self.direction.from.referenced, |mode| mode.referenced)
    }
}
