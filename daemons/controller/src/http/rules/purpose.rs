//! The purpose of a rule in words, with the numbers that belong to it.

use braid_api::RuleKind;
use braid_control::Label;
use braid_control::pipeline::{BASE, Exit, Hop, NeighborTraffic, PuntClass, Rule};
use braid_control::view::RuleMeanings;
use braid_steering::StreamId;
use braid_types::{DatapathId, PortNo};

use crate::names::Names;

/// What a rule is for.
pub(super) struct Purpose {
    pub(super) kind: RuleKind,
    pub(super) words: String,
    pub(super) stream: Option<u64>,
    pub(super) transfer: Option<u64>,
    pub(super) reverse: Option<bool>,
    pub(super) label: Option<u32>,
    pub(super) path: Vec<DatapathId>,
}

/// What a rule belongs to.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    /// A stream, and the label of its path if it has one.
    Stream { id: StreamId, reverse: bool, label: Option<Label> },
    /// A path, or a group of them, by its label.
    Path(Label),
    /// A bypass.
    Bypass(Label),
}

impl Purpose {
    pub(super) fn new(kind: RuleKind, words: impl Into<String>) -> Self {
        let (stream, transfer, reverse, label, path) = (None, None, None, None, Vec::new());
        Self { kind, words: words.into(), stream, transfer, reverse, label, path }
    }
}

/// What a rule belongs to, if that has a number.
pub(super) fn subject(rule: &Rule) -> Option<Subject> {
    match *rule {
        Rule::Stream { id, reverse, hop, .. } => Some(Subject::Stream { id, reverse, label: label(hop) }),
        Rule::Resequence { id, reverse, .. } => Some(Subject::Stream { id, reverse, label: None }),
        Rule::Route { hop, .. } | Rule::ArpRoute { hop, .. } | Rule::Transit(hop) => {
            label(hop).map(Subject::Path)
        }
        Rule::Hairpin { label, .. } | Rule::Egress { label } => Some(Subject::Path(label)),
        Rule::Bypass { label, .. } | Rule::BypassEnd { label } => Some(Subject::Bypass(label)),
        _ => None,
    }
}

/// The label of a hop; none where a group sets those of several paths.
fn label(hop: Hop) -> Option<Label> {
    match hop.exit {
        Exit::Plain | Exit::Protected { .. } => Some(hop.label),
        Exit::Sprayed { .. } | Exit::Balanced { .. } => None,
    }
}

/// What a rule is for, with what its numbers mean.
pub(super) fn of(rule: &Rule, meanings: &RuleMeanings, names: &Names) -> Purpose {
    let mut purpose = Purpose::new(kind(rule), "");
    match subject(rule) {
        Some(Subject::Stream { id, reverse, label }) => {
            purpose.stream = Some(id.0);
            purpose.reverse = Some(reverse);
            purpose.transfer = meanings.transfers.get(&id).map(|transfer| transfer.0);
            purpose.label = label.map(|label| label.0);
            purpose.path = path(meanings, label);
        }
        Some(Subject::Path(label)) => {
            purpose.label = Some(label.0);
            purpose.path = path(meanings, Some(label));
        }
        Some(Subject::Bypass(label)) => {
            purpose.label = Some(label.0);
            purpose.path = meanings.bypasses.get(&label).cloned().unwrap_or_default();
        }
        None => {}
    }
    purpose.words = words(rule, &purpose, names);
    purpose
}

fn path(meanings: &RuleMeanings, label: Option<Label>) -> Vec<DatapathId> {
    label.and_then(|label| meanings.paths.get(&label)).cloned().unwrap_or_default()
}

const fn kind(rule: &Rule) -> RuleKind {
    match rule {
        Rule::Broadcast | Rule::FabricBroadcast => RuleKind::Broadcast,
        Rule::Stream { .. } => RuleKind::Stream,
        Rule::Route { .. } | Rule::LocalRoute { .. } | Rule::ArpRoute { .. } | Rule::ArpLocalRoute { .. } => {
            RuleKind::DefaultPath
        }
        Rule::Transit(_) | Rule::Hairpin { .. } | Rule::Egress { .. } => RuleKind::Path,
        Rule::Bypass { .. } | Rule::BypassEnd { .. } => RuleKind::Bypass,
        Rule::Deliver { .. } | Rule::ArpDeliver { .. } => RuleKind::Delivery,
        Rule::Resequence { .. } => RuleKind::Resequence,
        _ => RuleKind::Admission,
    }
}

fn words(rule: &Rule, purpose: &Purpose, names: &Names) -> String {
    let path = || path_words(purpose, names);
    match rule {
        Rule::Stream { hop, .. } => {
            format!("{}, {}", stream(purpose), route(*hop, format!("path {}", path())))
        }
        Rule::Resequence { .. } => format!("resequences {}", stream(purpose)),
        Rule::Route { dst, hop } => format!("default path to {dst}, {}", route(*hop, path())),
        Rule::ArpRoute { dst, hop } => format!("default path to {dst} for ARP, {}", route(*hop, path())),
        Rule::LocalRoute { dst } => format!("default path to {dst}, at this switch"),
        Rule::ArpLocalRoute { dst } => format!("default path to {dst} for ARP, at this switch"),
        Rule::Transit(hop) if hop.label.is_group() => {
            format!("paths such as {}{}", path(), on_by(*hop))
        }
        Rule::Transit(_) => format!("path {}", path()),
        Rule::Egress { .. } => format!("end of path {}", path()),
        Rule::Hairpin { label, port } if label.is_group() => {
            format!("return to port {port} from bypasses of paths such as {}", path())
        }
        Rule::Hairpin { port, .. } => format!("return to port {port} from a bypass of path {}", path()),
        Rule::Bypass { .. } => format!("bypass of {}", bypassed(purpose, names)),
        Rule::BypassEnd { .. } => format!("end of bypass of {}", bypassed(purpose, names)),
        Rule::Deliver { dst, .. } => format!("delivery to {dst}"),
        Rule::ArpDeliver { dst, .. } => format!("delivery to {dst} of ARP"),
        Rule::Broadcast => "broadcast tree, from hosts".to_owned(),
        Rule::FabricBroadcast => "broadcast tree, from switches".to_owned(),
        rule => admission(rule),
    }
}

fn stream(purpose: &Purpose) -> String {
    let direction = if purpose.reverse == Some(true) { "reverse" } else { "forward" };
    let stream = purpose.stream.unwrap_or_default();
    match purpose.transfer {
        Some(transfer) => format!("stream {stream} of transfer {transfer} ({direction})"),
        None => format!("stream {stream}, which has ended ({direction})"),
    }
}

fn route(hop: Hop, path: String) -> String {
    match hop.exit {
        Exit::Plain | Exit::Protected { .. } => path,
        Exit::Sprayed { .. } => "sprayed".to_owned(),
        Exit::Balanced { .. } => "over several paths".to_owned(),
    }
}

/// The switches of a path, or its label if it is not in use any more.
fn path_words(purpose: &Purpose, names: &Names) -> String {
    let path: Vec<_> = purpose.path.iter().map(|dpid| names.label(*dpid)).collect();
    if path.is_empty() { format!("of label {}", purpose.label.unwrap_or_default()) } else { path.join(" > ") }
}

/// The ends of a link that is bypassed, and the way.
fn bypassed(purpose: &Purpose, names: &Names) -> String {
    let path = path_words(purpose, names);
    match purpose.path.as_slice() {
        [first, .., last] => format!("link {} > {}: {path}", names.label(*first), names.label(*last)),
        _ => format!("a link, {path}"),
    }
}

/// The ports of packets that share a rule.
fn on_by(hop: Hop) -> String {
    let from = match hop.exit {
        Exit::Protected { from } if from != PortNo(0) => format!(" from port {from}"),
        _ => String::new(),
    };
    format!(",{from} on by port {}", hop.port)
}

fn admission(rule: &Rule) -> String {
    match rule {
        Rule::FromController => "packets from the controller".to_owned(),
        Rule::FromLink { port } => format!("labelled packets from the link at port {port}"),
        Rule::FromBypass { port } => format!("bypassed packets from the link at port {port}"),
        Rule::FromHost { port } => format!("packets of hosts at port {port}"),
        Rule::SourceFilter { port, src } => format!("{src} is of a host elsewhere: dropped at port {port}"),
        Rule::SynAck { ipv6, port } => format!("copies of {} SYN/ACKs at port {port}", family(*ipv6)),
        Rule::Reset { ipv6, port } => format!("copies of {} resets at port {port}", family(*ipv6)),
        Rule::HeldSyn => "SYNs, to the controller".to_owned(),
        Rule::HeldSynOfLastPort { ipv6 } => {
            format!(
                "{} SYNs from port 65535, to the controller: it makes switches look at the port",
                family(*ipv6)
            )
        }
        Rule::SynAckToLastPort { ipv6 } => {
            format!("{} SYN/ACKs to port 65535: it makes switches look at the port", family(*ipv6))
        }
        Rule::AdvisedHandshake { port, .. } => format!("handshake of an advised subflow at port {port}"),
        Rule::NeighborCopy { port, traffic } => format!("copies of {} at port {port}", neighbors(*traffic)),
        Rule::TeardownCopy { port, reset, .. } => {
            format!("copies of {} of a stream at port {port}", if *reset { "resets" } else { "FINs" })
        }
        Rule::Metered { port, class } => format!("limit of {} at port {port}", punted(*class)),
        Rule::NoStream => "packets without a path of their own".to_owned(),
        rule => base(rule).map_or_else(String::new, |class| format!("{}, to the controller", punted(class))),
    }
}

/// The class of packets that a rule of every switch punts.
fn base(rule: &Rule) -> Option<PuntClass> {
    debug_assert!(BASE.contains(rule));
    PuntClass::ALL.into_iter().find(|class| class.base() == *rule)
}

const fn family(ipv6: bool) -> &'static str {
    if ipv6 { "IPv6" } else { "IPv4" }
}

const fn neighbors(traffic: NeighborTraffic) -> &'static str {
    match traffic {
        NeighborTraffic::Arp => "unicast ARP",
        NeighborTraffic::Solicitation => "unicast neighbour solicitations",
        NeighborTraffic::Advertisement => "unicast neighbour advertisements",
    }
}

const fn punted(class: PuntClass) -> &'static str {
    match class {
        PuntClass::Lldp => "discovery frames",
        PuntClass::Arp => "ARP",
        PuntClass::NeighborSolicitation => "neighbour solicitations",
        PuntClass::NeighborAdvertisement => "neighbour advertisements",
        PuntClass::Syn => "IPv4 SYNs",
        PuntClass::Syn6 => "IPv6 SYNs",
        PuntClass::NoRoute => "IPv4 without a default path",
        PuntClass::NoRoute6 => "IPv6 without a default path",
        PuntClass::NoArpRoute => "ARP without a default path",
    }
}
