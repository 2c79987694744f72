//! Notices and threats as types of the API.

use std::net::IpAddr;
use std::time::Duration;

use braid_api::{LinkLoss, LossEvidence, NoticedPath};
use braid_control::{AlarmSource, Notice, Threat};
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

use crate::http::lists::kind;
use crate::log;

/// How much a notice matters.
pub(in crate::http) fn level(notice: &Notice) -> braid_api::Level {
    match log::level(notice) {
        "warning" => braid_api::Level::Warning,
        "debug" => braid_api::Level::Debug,
        _ => braid_api::Level::Info,
    }
}

/// What a notice says.
pub(in crate::http) fn notice(notice: &Notice) -> braid_api::Notice {
    use braid_api::Notice as Wire;
    match notice.clone() {
        Notice::SwitchJoined { dpid, ports } => Wire::SwitchJoined { dpid, ports },
        Notice::InstalledStateRead { dpid, rules, unknown_rules } => {
            Wire::RulesFound { dpid, rules, unknown: unknown_rules }
        }
        Notice::Reconciled { labels, streams } => Wire::Reconciled { labels, streams },
        Notice::SwitchLeft { dpid } => Wire::SwitchLeft { dpid },
        Notice::LinkUp { src, dst } => Wire::LinkUp { src, dst },
        Notice::LinkDown { src, dst, why } => Wire::LinkDown { src, dst, why: loss(why) },
        Notice::LinkDamped { src, dst, losses, hold } => {
            Wire::LinkDamped { src, dst, losses, hold_us: micros(hold) }
        }
        Notice::LinkRecovered { src, dst, evidence: lost } => {
            Wire::LinkRecovered { src, dst, evidence: evidence(lost) }
        }
        Notice::Alarm { source, threat: what, count } => {
            Wire::Alarm { at: port(source), peer: peer(source), threat: threat(&what), count }
        }
        Notice::PortHeld { at, hold } => Wire::PortHeld { at, hold_us: micros(hold) },
        Notice::HostSeen { mac, at } => Wire::HostSeen { mac, at },
        Notice::HostMoved { mac, from, to } => Wire::HostMoved { mac, from, to },
        Notice::AddressSeen { mac, ip } => Wire::AddressSeen { mac, ip },
        Notice::TransferOpened { id, kind: how } => Wire::TransferOpened { id: id.0, kind: kind(how) },
        Notice::StreamPlaced { id, transfer, tuple, path, shared } => {
            let path = path.switches().collect();
            Wire::StreamPlaced { id: id.0, transfer: transfer.0, tuple, path, shared_links: shared }
        }
        Notice::StreamSprayed { id, transfer, tuple, paths } => {
            let paths = paths.into_iter().map(noticed_path).collect();
            Wire::StreamSprayed { id: id.0, transfer: transfer.0, tuple, paths }
        }
        Notice::CapacityMeasured { link, capacity } => {
            Wire::CapacityMeasured { link, capacity_bps: capacity.map(|it| it.0) }
        }
        Notice::StreamRebalanced { id, link, load, capacity, rate, room } => Wire::StreamRebalanced {
            id: id.0,
            link,
            load_bps: load.0,
            capacity_bps: capacity.0,
            rate_bps: rate.0,
            available_bps: room.0,
        },
        Notice::StreamsLearned { path, streams_per_gigabit } => {
            Wire::StreamModelLearned { path, streams_per_gigabit }
        }
        Notice::StreamEnded { id, bytes } => Wire::StreamEnded { id: id.0, bytes },
        Notice::TransferEnded { id } => Wire::TransferEnded { id: id.0 },
        Notice::Refused { dpid, reason } => Wire::CommandRefused { dpid, reason },
        Notice::Full { what } => Wire::TableFull { table: what.to_owned() },
        Notice::InstallFailed { path } => Wire::InstallFailed { path },
    }
}

/// An attack, or traffic that looks like one.
pub(in crate::http) fn threat(threat: &Threat) -> braid_api::Threat {
    use braid_api::Threat as Wire;
    match threat.clone() {
        Threat::ForgedProbe { why } => Wire::ForgedLldp { why },
        Threat::ReplayedProbe { of } => Wire::ReplayedLldp { of },
        Threat::RelayedProbe { of } => Wire::RelayedLldp { of },
        Threat::ReflectedProbe => Wire::ReflectedLldp,
        Threat::NotBelieved { mac, why } => Wire::RejectedHost { mac, why },
        Threat::StolenMac { mac, holder } => Wire::SpoofedMac { mac, holder },
        Threat::StolenIp { ip, holder } => Wire::SpoofedIp { ip, holder },
        Threat::ForeignDatapathId { dpid, why } => Wire::ForeignDatapathId { dpid, why },
        Threat::CertificateExpiry { why } => Wire::CertificateExpiry { why },
        Threat::TooManyAddresses => Wire::TooManyAddresses,
        Threat::TooManyPackets => Wire::TooManyPackets,
        Threat::LossyLink { to, evidence: lost } => Wire::LossyLink { to, evidence: evidence(lost) },
        Threat::SilentPath { to, path, silences } => Wire::SilentPath { to, path, silences },
        Threat::DuplicateDatapathId { dpid, holder } => Wire::DuplicateDatapathId { dpid, holder },
        Threat::RoleLost { dpid } => Wire::RoleLost { dpid },
        Threat::UnsuitableBridge { dpid, why } => Wire::UnsuitableBridge { dpid, why },
        Threat::ForeignTerm { dpid, term } => Wire::ForeignTerm { dpid, term: term.0 },
        Threat::StoreUnreachable { why } => Wire::StoreUnreachable { why },
        Threat::LeadershipLost { why } => Wire::LeadershipLost { why },
        Threat::SwitchesUnreachable { why } => Wire::SwitchesUnreachable { why },
        Threat::DuplicateMember { why } => Wire::DuplicateMember { why },
        Threat::CorruptStore { why } => Wire::CorruptStore { why },
        Threat::ForeignMember { why } => Wire::ForeignMember { why },
        Threat::RefusedConnection { why } => Wire::RefusedConnection { why },
        Threat::WrongToken => Wire::WrongToken,
    }
}

/// What was counted at both ends of a link.
pub(in crate::http) fn evidence(evidence: braid_control::LossEvidence) -> LossEvidence {
    let braid_control::LossEvidence { frames, lost, damaged, time } = evidence;
    LossEvidence { frames, lost, damaged, time_us: micros(time) }
}

/// The port that an alarm is about.
pub(in crate::http) const fn port(source: AlarmSource) -> Option<SwitchPort> {
    match source {
        AlarmSource::Port(at) => Some(at),
        AlarmSource::Peer(_) => None,
    }
}

/// The peer that an alarm is about.
pub(in crate::http) const fn peer(source: AlarmSource) -> Option<IpAddr> {
    match source {
        AlarmSource::Port(_) => None,
        AlarmSource::Peer(peer) => Some(peer),
    }
}

pub(in crate::http) const fn loss(loss: braid_control::LinkLoss) -> LinkLoss {
    match loss {
        braid_control::LinkLoss::Port => LinkLoss::PortDown,
        braid_control::LinkLoss::Silent => LinkLoss::Timeout,
        braid_control::LinkLoss::Switch => LinkLoss::SwitchLeft,
        braid_control::LinkLoss::Rewired => LinkLoss::Rewired,
    }
}

fn noticed_path((path, rate): (Vec<DatapathId>, BitsPerSec)) -> NoticedPath {
    NoticedPath { path, rate_bps: rate.0 }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use braid_types::{MacAddr, PortNo, Term};

    use super::*;

    #[test]
    fn a_threat_has_the_same_name_in_lists_and_in_cursors() {
        let at = SwitchPort::new(DatapathId(1), PortNo(1));
        let (mac, why) = (MacAddr::ZERO, String::new());
        let threats = [
            Threat::ForgedProbe { why: why.clone() },
            Threat::ReplayedProbe { of: at },
            Threat::RelayedProbe { of: at },
            Threat::ReflectedProbe,
            Threat::NotBelieved { mac, why },
            Threat::StolenMac { mac, holder: at },
            Threat::StolenIp { ip: [10, 0, 0, 1].into(), holder: at },
            Threat::ForeignDatapathId { dpid: at.dpid, why: String::new() },
            Threat::CertificateExpiry { why: String::new() },
            Threat::TooManyAddresses,
            Threat::TooManyPackets,
            Threat::LossyLink { to: at, evidence: braid_control::LossEvidence::default() },
            Threat::SilentPath { to: at.dpid, path: vec![at.dpid], silences: 1 },
            Threat::DuplicateDatapathId { dpid: DatapathId(1), holder: [10, 0, 0, 1].into() },
            Threat::RoleLost { dpid: DatapathId(1) },
            Threat::UnsuitableBridge { dpid: DatapathId(1), why: String::new() },
            Threat::ForeignTerm { dpid: DatapathId(1), term: Term(1) },
            Threat::StoreUnreachable { why: String::new() },
            Threat::LeadershipLost { why: String::new() },
            Threat::SwitchesUnreachable { why: String::new() },
            Threat::DuplicateMember { why: String::new() },
            Threat::CorruptStore { why: String::new() },
            Threat::ForeignMember { why: String::new() },
            Threat::RefusedConnection { why: String::new() },
            Threat::WrongToken,
        ];
        for it in threats {
            let json = serde_json::to_value(threat(&it)).expect("JSON");
            assert_eq!(json["kind"], it.kind());
        }
    }
}
