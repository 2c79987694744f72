//! The group that a rule sends packets to, in words: its number alone says nothing to a reader.

use braid_api::{RuleGroup, RuleGroupKind};
use braid_control::NetworkNames;
use braid_control::pipeline::{Exit, Hop, Rule};
use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::names::Names;

/// The group of a rule of this switch, if it has one.
pub(super) fn of(rule: &Rule, dpid: DatapathId, names: &Names) -> Option<RuleGroup> {
    let number = rule.group()?.0;
    let (kind, purpose) = meaning(rule, dpid, names)?;
    Some(RuleGroup { number, kind, purpose })
}

fn meaning(rule: &Rule, dpid: DatapathId, names: &Names) -> Option<(RuleGroupKind, String)> {
    let leaves = |hop: Hop, flows: String| exit(hop, flows, |port| port_words(dpid, port, names));
    match rule {
        Rule::Broadcast | Rule::FabricBroadcast => {
            Some((RuleGroupKind::Flood, "flood group: all ports of the broadcast tree".to_owned()))
        }
        Rule::Resequence { id, .. } => {
            Some((RuleGroupKind::Resequence, format!("resequencing group: stream {}, then delivery", id.0)))
        }
        Rule::Stream { id, hop, .. } => leaves(*hop, format!("stream {}", id.0)),
        Rule::Route { dst, hop } => leaves(*hop, format!("flows to {dst}")),
        Rule::ArpRoute { dst, hop } => leaves(*hop, format!("ARP to {dst}")),
        Rule::Transit(hop) => leaves(*hop, "labelled packets".to_owned()),
        _ => None,
    }
}

/// The group by which packets leave; `flows` names them.
fn exit(hop: Hop, flows: String, port: impl Fn(PortNo) -> String) -> Option<(RuleGroupKind, String)> {
    match hop.exit {
        Exit::Plain => None,
        Exit::Protected { from } => {
            let entered = if from == PortNo(0) {
                String::new()
            } else {
                format!(", for packets from port {}", port(from))
            };
            let words = format!("protected port: {}, or its bypass{entered}", port(hop.port));
            Some((RuleGroupKind::ProtectedPort, words))
        }
        Exit::Sprayed { .. } => {
            Some((RuleGroupKind::Spray, format!("spray group: {flows}, each packet on one of several paths")))
        }
        Exit::Balanced { .. } => {
            Some((RuleGroupKind::Ecmp, format!("ECMP group: {flows}, each on one of several paths")))
        }
    }
}

/// A port by its number, and its name if it has one.
fn port_words(dpid: DatapathId, port: PortNo, names: &Names) -> String {
    match names.port(SwitchPort::new(dpid, port)) {
        Some(name) => format!("{port} ({name})"),
        None => port.to_string(),
    }
}
