//! Rules as JSON, from the messages of a switch.

use std::cmp::Reverse;

use braid_api::{Rule as RuleDocument, RuleKind, Rules, Schema};
use braid_control::pipeline::{self, Table};
use braid_control::view::{RuleMeanings, RuleNumbers};
use braid_control::{Cookie, NetworkNames};
use braid_openflow::{FlowStats, Message, MultipartReply, ReplyBody, frames};

use super::group;
use super::purpose::{self, Purpose, Subject};
use crate::engine::ReadRules;

/// Rules in an answer.
const MAX_RULES: usize = 5_000;
/// Of packets and bytes that a switch does not count.
const NOT_COUNTED: u64 = u64::MAX;

/// The numbers in the rules that are listed.
pub(super) fn numbers(read: &ReadRules) -> RuleNumbers {
    let mut numbers = RuleNumbers::default();
    for flow in flows(read).take(MAX_RULES) {
        match pipeline::decode(&flow).and_then(|rule| purpose::subject(&rule)) {
            Some(Subject::Stream { id, label, .. }) => {
                numbers.streams.insert(id);
                numbers.labels.extend(label);
            }
            Some(Subject::Path(label)) => _ = numbers.labels.insert(label),
            Some(Subject::Bypass(label)) => _ = numbers.bypasses.insert(label),
            None => {}
        }
    }
    numbers
}

/// The answer as JSON.
pub(super) fn document(read: &ReadRules, meanings: &RuleMeanings) -> String {
    let listed = flows(read).take(MAX_RULES).map(|flow| rule(&flow, read, meanings));
    let mut rules: Vec<_> = listed.collect();
    rules.sort_by(|a, b| order(a).cmp(&order(b)));
    let ReadRules { dpid, asked_at, names, .. } = read;
    let answer = Rules {
        schema: Schema,
        now: *asked_at,
        dpid: *dpid,
        name: names.switch(*dpid).map(str::to_owned),
        rules,
        truncated: read.truncated || flows(read).nth(MAX_RULES).is_some(),
    };
    // Text and numbers are always written.
    serde_json::to_string(&answer).unwrap_or_default()
}

fn order(rule: &RuleDocument) -> impl Ord {
    (rule.table, Reverse(rule.priority), &rule.matching)
}

/// The rules in a switch's messages, which the session has checked.
fn flows(read: &ReadRules) -> impl Iterator<Item = FlowStats<'_>> {
    frames(&read.messages)
        .filter_map(|frame| match frame.ok()?.decode() {
            Ok((_, Message::MultipartReply(MultipartReply { body: ReplyBody::Flow(flows), .. }))) => {
                Some(flows)
            }
            _ => None,
        })
        .flatten()
}

fn rule(flow: &FlowStats<'_>, read: &ReadRules, meanings: &RuleMeanings) -> RuleDocument {
    let decoded = pipeline::decode(flow);
    let group = decoded.and_then(|rule| group::of(&rule, read.dpid, &read.names));
    let purpose = match decoded {
        Some(rule) => purpose::of(&rule, meanings, &read.names),
        None => undecoded(flow),
    };
    let Purpose { kind, words, stream, transfer, reverse, label, path } = purpose;
    RuleDocument {
        table: flow.table_id.0,
        table_name: table_name(flow.table_id.0).map(str::to_owned),
        priority: flow.priority,
        matching: flow.matching.to_string(),
        actions: flow.instructions.to_string(),
        group,
        packets: counted(flow.packet_count),
        bytes: counted(flow.byte_count),
        age_seconds: flow.duration_sec,
        cookie: format!("{:#018x}", flow.cookie.0),
        kind,
        purpose: words,
        stream,
        transfer,
        reverse,
        label,
        path_names: read.names.path_labels(&path),
        path,
    }
}

fn undecoded(flow: &FlowStats<'_>) -> Purpose {
    if Cookie(flow.cookie.0).is_ours() {
        Purpose::new(RuleKind::Unknown, "of another version of Braid, or changed by somebody")
    } else {
        Purpose::new(RuleKind::Foreign, "foreign")
    }
}

const fn counted(count: u64) -> Option<u64> {
    if count == NOT_COUNTED { None } else { Some(count) }
}

fn table_name(table: u8) -> Option<&'static str> {
    Table::ALL.into_iter().find(|it| *it as u8 == table).map(Table::name)
}
