//! Groups of edges that spray packets over labelled paths, and such that put them back in order, as messages.

use std::time::Duration;

use braid_edge_protocol::extension::{BRAID, Extension, PathUpdate, Probing};
use braid_edge_protocol::telemetry::TELEMETRY;
use braid_openflow::{
    Action, Bucket, Bytes, EncodeError, Experimenter, GroupId, GroupMod, GroupModCommand, GroupType, List,
    Masked, Message, OxmField, RequestBody, Xid,
};
use braid_spray::{Policy, Settings};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo};
use serde::{Deserialize, Serialize};

use crate::label::Label;

/// Below are the numbers of other groups, and above those of guards.
const FIRST: u32 = 0x100;
const LAST: u32 = 0xffff;
/// Between two probes of a path: 30 kbit/s.
const INTERVAL: Duration = Duration::from_millis(20);
/// A path is left when it has not answered for so long, beyond the time that answers take.
const PATIENCE: Duration = Duration::from_millis(120);

/// A group of an edge that spreads packets over paths, or puts them in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EdgeGroup(u16);

/// What a group sprays over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spray {
    /// The group.
    pub group: EdgeGroup,
    /// The edge at the end of its paths.
    pub peer: DatapathId,
    /// The paths, in the order of its buckets; 64 at most.
    pub paths: Vec<SprayPath>,
    /// Bytes by one path in a row.
    pub burst: u32,
}

/// A path of a group that sprays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SprayPath {
    /// Its label.
    pub label: Label,
    /// Where it begins.
    pub port: PortNo,
    /// The label by which answers to probes come back.
    pub back: Label,
    /// What it has to spare, with which its share begins.
    pub rate: BitsPerSec,
    /// How long it takes.
    pub delay: Duration,
}

/// A group that puts what comes for one host in order, and hands it over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The group.
    pub group: EdgeGroup,
    /// The host's address.
    pub mac: MacAddr,
    /// Where the host is.
    pub port: PortNo,
    /// How, and what it may take; `None`: what comes is handed over as it comes.
    pub settings: Option<Settings>,
}

impl EdgeGroup {
    /// The group after `last`, or the first.
    pub(crate) const fn after(last: Option<Self>) -> Self {
        match last {
            Some(Self(last)) if (last as u32) < LAST => Self(last + 1),
            _ => Self(FIRST as u16),
        }
    }

    /// The group with this number, if it is one of these.
    pub(crate) fn of(id: GroupId) -> Option<Self> {
        (FIRST..=LAST).contains(&id.0).then_some(Self(id.0 as u16))
    }

    /// Its number.
    pub(crate) const fn id(self) -> GroupId {
        GroupId(self.0 as u32)
    }
}

/// Makes the group, or changes it if it is there.
pub(super) fn encode_spray(spray: &Spray, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let acts: Vec<_> =
        spray.paths.iter().map(|path| [set_eth_dst(path.label.mac()), Action::output(path.port)]).collect();
    let bucket = |(path, actions)| Bucket { weight: 1, watch_port: port(path), ..Bucket::new(actions) };
    let buckets: Vec<_> = spray.paths.iter().zip(acts.iter().map(<[_; 2]>::as_slice)).map(bucket).collect();
    put(GroupType::Select, spray.group, &buckets, xid, out)?;
    let (group, burst) = (spray.group.id(), spray.burst);
    encode(&Extension::SetSpray { group, policy: Policy::Weighted { burst } }, xid, out)?;
    encode_shares(spray, xid, out)?;
    let backs = spray.paths.iter().map(|path| path.back.mac()).collect();
    let probing = Probing { interval: INTERVAL, patience: PATIENCE, peer: spray.peer, backs };
    encode(&Extension::SetProbing { group, probing }, xid, out)
}

fn encode_shares(spray: &Spray, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let update = |(bucket, path): (u32, &SprayPath)| PathUpdate {
        bucket,
        weight: share(path.rate),
        rate: Some(path.rate),
        delay: path.delay,
    };
    let paths = (0..).zip(&spray.paths).map(update).collect();
    encode(&Extension::SetPaths { group: spray.group.id(), paths }, xid, out)
}

/// Makes the group, or changes it if it is there; what it holds stays held.
pub(super) fn encode_order(order: &Order, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let actions = [set_eth_dst(order.mac), Action::output(order.port)];
    put(GroupType::Indirect, order.group, &[Bucket::new(&actions)], xid, out)?;
    encode(&Extension::SetResequence { group: order.group.id(), settings: order.settings }, xid, out)
}

/// Removes the group, if it is there, and with it the rules that need it.
pub(super) fn encode_removal(group: EdgeGroup, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let group_mod = GroupMod {
        command: GroupModCommand::Delete,
        group_type: GroupType::Select,
        group_id: group.id(),
        buckets: List::EMPTY,
    };
    Message::GroupMod(group_mod).encode(xid, out)
}

/// Asks what all groups have done.
pub(super) fn encode_question(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let question = Experimenter { experimenter: BRAID, exp_type: TELEMETRY, data: Bytes(&[]) };
    Message::MultipartRequest(RequestBody::Experimenter(question).into()).encode(xid, out)
}

/// In units of 10 kbit/s; none only of nothing.
fn share(rate: BitsPerSec) -> u32 {
    rate.0.div_ceil(10_000).min(u32::MAX.into()) as u32
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

fn encode(extension: &Extension, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let body = extension.body();
    Message::Experimenter(extension.message(&body)).encode(xid, out)
}

const fn port(path: &SprayPath) -> PortNo {
    path.port
}

const fn set_eth_dst(mac: MacAddr) -> Action<'static> {
    Action::SetField(OxmField::EthDst(Masked::exact(mac)))
}
