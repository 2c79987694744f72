//! Messages for an edge's spray groups and resequencing groups.

use std::time::Duration;

use braid_edge_protocol::extension::{BRAID, Extension, PathUpdate, Probing};
use braid_edge_protocol::telemetry::TELEMETRY;
use braid_openflow::{
    Action, Bucket, Bytes, EncodeError, Experimenter, GroupMod, GroupModCommand, GroupType, List, Message,
    RequestBody, Xid,
};
use braid_planner::path_weight;
use braid_spray::{PathWeight, Policy, Settings};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo};
use serde::{Deserialize, Serialize};

use super::actions::set_eth_dst;
use super::group_ids::EdgeGroup;
use crate::label::Label;

/// The time between two probes of a path: 30 kbit/s.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
/// A path is suspended without answers for this long, in addition to the answers' own time; sooner if others answer.
const PROBE_TIMEOUT: Duration = Duration::from_millis(120);

/// The paths and parameters of a spray group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spray {
    /// The group.
    pub group: EdgeGroup,
    /// The edge at the end of its paths.
    pub peer: DatapathId,
    /// The paths, in the order of its buckets, at most 64.
    pub paths: Vec<SprayPath>,
    /// Bytes sent in a row by one path.
    pub burst: u32,
}

/// A path of a spray group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SprayPath {
    /// Its label.
    pub label: Label,
    /// Its first port.
    pub port: PortNo,
    /// The label by which probe answers return.
    pub back: Label,
    /// Its spare capacity, which is its initial weight.
    pub rate: BitsPerSec,
    /// Its delay.
    pub delay: Duration,
}

/// A group that resequences packets for one host and delivers them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resequencer {
    /// The group.
    pub group: EdgeGroup,
    /// The host's address.
    pub mac: MacAddr,
    /// The host's port.
    pub port: PortNo,
    /// The resequencer's settings; `None` to deliver packets as they arrive.
    pub settings: Option<Settings>,
}

/// Creates or changes the group.
pub(crate) fn encode_spray(spray: &Spray, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let acts: Vec<_> =
        spray.paths.iter().map(|path| [set_eth_dst(path.label.mac()), Action::output(path.port)]).collect();
    let bucket = |(path, actions)| Bucket { weight: 1, watch_port: port(path), ..Bucket::new(actions) };
    let buckets: Vec<_> = spray.paths.iter().zip(acts.iter().map(<[_; 2]>::as_slice)).map(bucket).collect();
    put(GroupType::Select, spray.group, &buckets, xid, out)?;
    let (group, burst) = (spray.group.id(), spray.burst);
    encode(&Extension::SetSpray { group, policy: Policy::Weighted { burst } }, xid, out)?;
    encode_shares(spray, xid, out)?;
    let backs = spray.paths.iter().map(|path| path.back.mac()).collect();
    let probing = Probing { interval: PROBE_INTERVAL, patience: PROBE_TIMEOUT, peer: spray.peer, backs };
    encode(&Extension::SetProbing { group, probing }, xid, out)
}

fn encode_shares(spray: &Spray, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let update = |(bucket, path): (u32, &SprayPath)| {
        let PathWeight { weight, rate, delay } = path_weight(path.rate, path.delay);
        PathUpdate { bucket, weight, rate, delay }
    };
    let paths = (0..).zip(&spray.paths).map(update).collect();
    encode(&Extension::SetPaths { group: spray.group.id(), paths }, xid, out)
}

/// Creates or changes the group. Packets that it holds stay held.
pub(crate) fn encode_resequencer(
    resequencer: &Resequencer,
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let actions = [set_eth_dst(resequencer.mac), Action::output(resequencer.port)];
    put(GroupType::Indirect, resequencer.group, &[Bucket::new(&actions)], xid, out)?;
    encode(
        &Extension::SetResequence { group: resequencer.group.id(), settings: resequencer.settings },
        xid,
        out,
    )
}

/// Removes the group, if it exists, and the rules that need it.
pub(crate) fn encode_removal(group: EdgeGroup, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let group_mod = GroupMod {
        command: GroupModCommand::Delete,
        group_type: GroupType::Select,
        group_id: group.id(),
        buckets: List::EMPTY,
    };
    Message::GroupMod(group_mod).encode(xid, out)
}

/// Requests the reports of all groups.
pub(crate) fn encode_question(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let question = Experimenter { experimenter: BRAID, exp_type: TELEMETRY, data: Bytes(&[]) };
    Message::MultipartRequest(RequestBody::Experimenter(question).into()).encode(xid, out)
}

fn put(
    group_type: GroupType,
    group: EdgeGroup,
    buckets: &[Bucket<'_>],
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (command, group_id) = (GroupModCommand::AddOrMod, group.id());
    Message::GroupMod(GroupMod { command, group_type, group_id, buckets: List::new(buckets) })
        .encode(xid, out)
}

pub(super) fn encode(extension: &Extension, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let body = extension.body();
    Message::Experimenter(extension.message(&body)).encode(xid, out)
}

const fn port(path: &SprayPath) -> PortNo {
    path.port
}
