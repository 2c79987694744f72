//! Rules as a switch tells them, and what is said of them.

use std::net::{IpAddr, Ipv4Addr};

use braid_api::{Rule as RuleDocument, RuleGroupKind, RuleKind, Rules};
use braid_control::pipeline::{BASE, Exit, Hop, NeighborTraffic, PuntClass, Rule};
use braid_control::view::RuleMeanings;
use braid_control::{Command, Commands, Encoder, Event, Label, PortStatus};
use braid_openflow::{FlowMod, FlowStats, List, Message, MultipartReply, ReplyBody, Xid};
use braid_steering::{StreamId, TransferId};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, PortNo, Time};

use super::document::{document, numbers};
use super::is_of_switch;
use crate::engine::ReadRules;
use crate::names::Names;
use crate::switch_metadata::SwitchMetadata;

const DST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const HOP: Hop = Hop { label: Label(9), port: PortNo(3), exit: Exit::Protected { from: PortNo(0) } };
/// A group of paths, and those of its packets that enter by port 1.
const GROUP: Label = Label(1 << 31 | 1 << 9);
const FROM: Hop = Hop { label: GROUP, port: PortNo(3), exit: Exit::Protected { from: PortNo(1) } };

/// The messages in which switch 1 tells of these rules.
fn read(rules: &[Rule]) -> ReadRules {
    let (encoder, commands) = (Encoder::new(std::time::Duration::from_secs(60)), Commands::default());
    let mut messages = Vec::new();
    for rule in rules {
        let mut added = Vec::new();
        let command = Command::Add { dpid: DatapathId(1), rule: *rule };
        encoder.encode(&command, &commands, Xid(1), &mut added).expect("a short message");
        let Ok((_, Message::FlowMod(flow))) = Message::decode(&added) else { panic!("no flow") };
        let stats = [told(&flow)];
        let reply = MultipartReply::from(ReplyBody::Flow(List::new(&stats)));
        Message::MultipartReply(reply).encode(Xid(1), &mut messages).expect("a short message");
    }
    let west = SwitchMetadata { name: Some("west".to_owned()), ..SwitchMetadata::default() };
    let mut names = Names::new([(DatapathId(1), west)].into(), Default::default());
    let (mac, name) = (MacAddr::ZERO, "west-east".to_owned());
    let port = PortStatus { port: PortNo(3), mac, name, up: true, speed: BitsPerSec(0) };
    names.learn(&Event::PortUp { dpid: DatapathId(1), port });
    ReadRules { dpid: DatapathId(1), asked_at: Time::ZERO, names, messages, truncated: false }
}

fn told<'a>(flow: &FlowMod<'a>) -> FlowStats<'a> {
    FlowStats {
        table_id: flow.table_id,
        duration_sec: 1,
        duration_nsec: 0,
        priority: flow.priority,
        idle_timeout: flow.idle_timeout,
        hard_timeout: flow.hard_timeout,
        flags: flow.flags,
        cookie: flow.cookie,
        packet_count: 1,
        byte_count: 99,
        matching: flow.matching,
        instructions: flow.instructions,
    }
}

fn listed(rules: &[Rule], meanings: &RuleMeanings) -> Vec<RuleDocument> {
    serde_json::from_str::<Rules>(&document(&read(rules), meanings)).expect("JSON").rules
}

/// What is said of one rule while stream 12 belongs to transfer 5, and paths and bypasses with label 9 are in use.
fn said(rule: Rule) -> String {
    let [path, bypass] = [[1, 2, 3], [1, 3, 2]].map(|it| it.map(DatapathId).to_vec());
    let paths = [(Label(9), path.clone()), (GROUP, path)].into();
    let bypasses = [(Label(9), bypass)].into();
    let meanings = RuleMeanings { transfers: [(StreamId(12), TransferId(5))].into(), paths, bypasses };
    listed(&[rule], &meanings).remove(0).purpose
}

fn stream(id: u64, reverse: bool) -> Rule {
    let tuple = FiveTuple { src: Ipv4Addr::new(10, 0, 0, 1).into(), dst: DST, src_port: 7, dst_port: 80 };
    Rule::Stream { id: StreamId(id), reverse, tuple, hop: HOP }
}

#[test]
fn rules_of_streams_and_paths_name_them() {
    let cases = [
        (stream(12, false), "stream 12 of transfer 5 (forward), path west > 2 > 3"),
        (stream(13, true), "stream 13, which has ended (reverse), path west > 2 > 3"),
        (Rule::Route { dst: DST, hop: HOP }, "default path to 10.0.0.2, west > 2 > 3"),
        (Rule::LocalRoute { dst: DST }, "default path to 10.0.0.2, at this switch"),
        (Rule::Transit(Hop { port: PortNo(2), ..HOP }), "path west > 2 > 3"),
        (Rule::Transit(Hop { label: Label(8), ..HOP }), "path of label 8"),
        (Rule::Transit(Hop { label: GROUP, ..HOP }), "paths such as west > 2 > 3, on by port 3"),
        (Rule::Transit(FROM), "paths such as west > 2 > 3, from port 1 on by port 3"),
        (
            Rule::Hairpin { label: Label(9), port: PortNo(3) },
            "return to port 3 from a bypass of path west > 2 > 3",
        ),
        (Rule::Egress { label: Label(9) }, "end of path west > 2 > 3"),
        (Rule::Bypass { label: Label(9), port: PortNo(2) }, "bypass of link west > 2: west > 3 > 2"),
        (Rule::BypassEnd { label: Label(8) }, "end of bypass of a link, of label 8"),
        (Rule::Deliver { dst: DST, mac: MacAddr::from_u64(7), port: PortNo(4) }, "delivery to 10.0.0.2"),
        (Rule::FromHost { port: PortNo(3) }, "packets of hosts at port 3"),
        (Rule::Broadcast, "broadcast tree, from hosts"),
    ];
    for (rule, words) in cases {
        assert_eq!(said(rule), words);
    }
}

#[test]
fn numbers_of_a_stream_are_fields() {
    let rules = [stream(12, true)];
    let asked = numbers(&read(&rules));
    assert!(asked.streams.contains(&StreamId(12)) && asked.labels.contains(&Label(9)), "{asked:?}");
    let path = [1, 2].map(DatapathId).to_vec();
    let paths = [(Label(9), path.clone())].into();
    let meanings =
        RuleMeanings { transfers: [(StreamId(12), TransferId(5))].into(), paths, ..Default::default() };
    let rule = listed(&rules, &meanings).remove(0);
    assert_eq!((rule.kind, rule.stream, rule.transfer), (RuleKind::Stream, Some(12), Some(5)));
    assert_eq!((rule.reverse, rule.label, rule.path), (Some(true), Some(9), path));
    assert_eq!(rule.path_names, ["west", "2"]);
    assert_eq!(rule.actions, "set_field:02:b7:00:00:00:09->eth_dst,group:196608");
}

/// What is said of the group of one rule.
fn group_of(rule: Rule) -> Option<(u32, RuleGroupKind, String)> {
    let group = listed(&[rule], &RuleMeanings::default()).remove(0).group?;
    Some((group.number, group.kind, group.purpose))
}

#[test]
fn groups_of_rules_are_explained_beside_actions_that_other_tools_read() {
    let edge = serde_json::from_str("256").expect("an edge's group");
    let ecmp = serde_json::from_str("32768").expect("a group over equal-cost paths");
    let sprayed = Hop { label: Label(0), port: PortNo::ANY, exit: Exit::Sprayed { group: edge } };
    let balanced = Hop { exit: Exit::Balanced { group: ecmp }, ..sprayed };
    let (id, reverse) = (StreamId(12), false);
    let tuple = FiveTuple { src: Ipv4Addr::new(10, 0, 0, 1).into(), dst: DST, src_port: 7, dst_port: 80 };
    let cases = [
        (Rule::Broadcast, 1, RuleGroupKind::Flood, "flood group: all ports of the broadcast tree"),
        (Rule::FabricBroadcast, 1, RuleGroupKind::Flood, "flood group: all ports of the broadcast tree"),
        (
            Rule::Stream { id, reverse, tuple, hop: sprayed },
            0x100,
            RuleGroupKind::Spray,
            "spray group: stream 12, each packet on one of several paths",
        ),
        (
            Rule::Resequence { id, reverse, tuple, group: edge },
            0x100,
            RuleGroupKind::Resequence,
            "resequencing group: stream 12, then delivery",
        ),
        (
            Rule::Route { dst: DST, hop: balanced },
            0x8000,
            RuleGroupKind::Ecmp,
            "ECMP group: flows to 10.0.0.2, each on one of several paths",
        ),
        (stream(12, true), 3 << 16, RuleGroupKind::ProtectedPort, "protected port: 3 (east), or its bypass"),
        (
            Rule::Transit(FROM),
            3 << 16 | 1,
            RuleGroupKind::ProtectedPort,
            "protected port: 3 (east), or its bypass, for packets from port 1",
        ),
    ];
    for (rule, number, kind, words) in cases {
        assert_eq!(group_of(rule), Some((number, kind, words.to_owned())));
        let actions = listed(&[rule], &RuleMeanings::default()).remove(0).actions;
        assert!(actions.ends_with(&format!("group:{number}")), "{actions}");
    }
}

#[test]
fn rules_without_a_group_have_none() {
    let plain = Hop { exit: Exit::Plain, ..HOP };
    for rule in [Rule::Lldp, Rule::Route { dst: DST, hop: plain }, Rule::Egress { label: Label(9) }] {
        assert_eq!(group_of(rule), None);
    }
}

#[test]
fn every_rule_of_admission_has_a_purpose_of_its_own() {
    let port = PortNo(3);
    let copies = NeighborTraffic::ALL.map(|traffic| Rule::NeighborCopy { port, traffic });
    let metered = PuntClass::ALL.map(|class| Rule::Metered { port, class });
    let per_port = [
        Rule::FromLink { port },
        Rule::FromBypass { port },
        Rule::SynAck { ipv6: false, port },
        Rule::Reset { ipv6: true, port },
        Rule::SourceFilter { port, src: DST },
    ];
    let rules = [&BASE[..], &copies, &metered, &per_port].concat();
    let mut said: Vec<_> = rules.iter().map(|rule| said(*rule)).collect();
    said.sort();
    said.dedup();
    assert!(said.len() == rules.len() && said.iter().all(|it| it.len() > 8), "{said:?}");
}

#[test]
fn what_nobody_of_this_version_wrote_is_unknown_or_foreign() {
    let mut read = read(&[Rule::Lldp]);
    let kind = |read: &ReadRules| {
        let told: Rules = serde_json::from_str(&document(read, &RuleMeanings::default())).expect("JSON");
        told.rules[0].kind
    };
    assert_eq!(kind(&read), RuleKind::Admission);
    // The priority stands after the header, the length, the table and the age.
    const PRIORITY: usize = 16 + 12;
    read.messages[PRIORITY] ^= 1;
    assert_eq!(kind(&read), RuleKind::Unknown);
    const COOKIE: usize = 16 + 24;
    read.messages[COOKIE] ^= 1;
    assert_eq!(kind(&read), RuleKind::Foreign);
}

#[test]
fn only_rules_are_asked_of_switches() {
    assert!(is_of_switch("/api/v1/switches/west/rules"));
    assert!(
        !["/api/v1/switches", "/api/v1/links/rules", "/api/v1/switches/take-over"]
            .into_iter()
            .any(is_of_switch)
    );
}
