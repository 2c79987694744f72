//! The rules of traffic in a site's file.

use std::ops::RangeInclusive;

use braid_tunnel::{PathChoice, Traffic, TrafficRule};

use super::Reader;
use super::file::{self, Word};
use super::problem::nearest;
use super::spanned::Spanned;

/// Each packet is compared with every rule.
pub(super) const MAX_RULES: usize = 64;
pub(super) const PATHS: [(&str, PathChoice); 3] =
    [("all", PathChoice::All), ("quickest", PathChoice::Quickest), ("duplicate", PathChoice::Duplicate)];
pub(super) const PROTOCOLS: [(&str, u8); 8] = [
    ("icmp", 1),
    ("tcp", 6),
    ("udp", 17),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("icmpv6", 58),
    ("sctp", 132),
];
/// The names of code points, as the registry has them.
pub(super) const MARKS: [(&str, u8); 23] = [
    ("cs0", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("voice-admit", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];
const MAX_MARK: u8 = 63;

impl Reader<'_> {
    pub(super) fn traffic(&mut self, traffic: file::Traffic) -> Traffic {
        if let Some(rule) = traffic.rule.get(MAX_RULES) {
            self.add(&rule.span(), format!("there are more than {MAX_RULES} rules of traffic"));
        }
        let urgent = traffic.urgent.and_then(|it| self.paths(&it));
        let rules =
            traffic.rule.into_iter().filter_map(|rule| self.traffic_rule(rule.into_inner())).collect();
        Traffic { urgent: urgent.unwrap_or(PathChoice::Quickest), rules }
    }

    fn traffic_rule(&mut self, rule: file::TrafficRule) -> Option<TrafficRule> {
        let ports = rule.ports.iter().filter_map(|it| self.ports(it)).collect();
        let networks = rule.networks.iter().filter_map(|it| self.value(it, "a network as 10.2.0.0/16"));
        let networks = networks.collect();
        let dscp = rule.dscp.iter().filter_map(|it| self.named(it, "dscp", &MARKS, MAX_MARK)).collect();
        let protocol = rule.protocol.and_then(|it| self.named(&it, "protocol", &PROTOCOLS, u8::MAX));
        Some(TrafficRule { protocol, ports, networks, dscp, paths: self.paths(&rule.paths)? })
    }

    fn paths(&mut self, text: &Spanned<String>) -> Option<PathChoice> {
        let found = PATHS.iter().find(|(name, _)| name == text.get_ref());
        if found.is_none() {
            let what = format!("{:?} are no paths: \"all\", \"quickest\" or \"duplicate\"", text.get_ref());
            self.add(&text.span(), what + &meant(text.get_ref(), PATHS.iter().map(|it| it.0)));
        }
        found.map(|(_, paths)| *paths)
    }

    /// A value by its name or as a number.
    fn named(&mut self, word: &Spanned<Word>, what: &str, names: &[(&str, u8)], most: u8) -> Option<u8> {
        let text = word.get_ref().text();
        let by_name = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        let value = by_name.or_else(|| text.parse().ok().filter(|value| *value <= most));
        if value.is_none() {
            let problem = format!("{text:?} is no {what}: give a name as {:?}, or 0 to {most}", names[2].0);
            self.add(&word.span(), problem + &meant(&text.to_lowercase(), names.iter().map(|it| it.0)));
        }
        value
    }

    fn ports(&mut self, word: &Spanned<Word>) -> Option<RangeInclusive<u16>> {
        let text = word.get_ref().text();
        let (first, last) = text.split_once('-').unwrap_or((&text, &text));
        let range = first.parse().ok().zip(last.parse().ok()).filter(|(first, last)| first <= last);
        if range.is_none() {
            let what = format!("{text:?} is neither a port, 0 to 65535, nor a range such as 5060-5070");
            self.add(&word.span(), what);
        }
        range.map(|(first, last)| first..=last)
    }
}

fn meant<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(text, names).map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}
