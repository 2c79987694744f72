//! Groups with their buckets, and the state that spraying and resequencing groups keep.

use std::sync::Arc;

use braid_openflow::{ErrorCode, GroupId, GroupMod, GroupModFailedCode, GroupType, Message};
use braid_spray::{PathWeight, Scheduler};
use braid_types::{PortNo, Time};

use super::failed;
use super::probing::Probing;
use super::resequencing::GroupResequencer;
use crate::action::{Act, acts};
use crate::tunnel::Tunnel;

/// The greatest number of buckets of a group.
const MAX_BUCKETS: usize = 64;

/// A group, and the message that created it.
#[derive(Debug)]
pub(crate) struct Group {
    pub(super) kind: GroupType,
    pub(super) buckets: Vec<Bucket>,
    pub(super) message: Vec<u8>,
    pub(super) created: Time,
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// The scheduler of a select group that decides for each packet.
    pub(super) spray: Option<Scheduler>,
    /// The probes of a spraying group.
    pub(super) probing: Option<Box<Probing>>,
    /// The buffer of a resequencing group, ahead of its buckets.
    pub(super) resequencer: Option<Box<GroupResequencer>>,
    /// The tunnels that it encapsulates into, or decapsulates from.
    pub(super) tunnel: Option<Box<Tunnel>>,
}

/// One of a group's lists of actions.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) weight: u16,
    pub(super) watch_port: PortNo,
    pub(super) watch_group: GroupId,
    pub(super) actions: Arc<[Act]>,
    pub(super) packets: u64,
    pub(super) bytes: u64,
}

impl Group {
    /// The group that `group_mod` describes; `message` is its bytes.
    pub(super) fn new(now: Time, group_mod: &GroupMod<'_>, message: &[u8]) -> Result<Self, ErrorCode> {
        if matches!(group_mod.group_type, GroupType::Unknown(_)) {
            return Err(failed(GroupModFailedCode::BadType));
        }
        let buckets = group_mod.buckets.iter().map(|bucket| {
            let actions = acts(bucket.actions)?;
            let (weight, watch_port, watch_group) = (bucket.weight, bucket.watch_port, bucket.watch_group);
            Ok(Bucket { weight, watch_port, watch_group, actions, packets: 0, bytes: 0 })
        });
        let buckets = buckets.collect::<Result<Vec<_>, ErrorCode>>()?;
        if buckets.len() > MAX_BUCKETS {
            return Err(failed(GroupModFailedCode::OutOfBuckets));
        }
        if group_mod.group_type == GroupType::Indirect && buckets.len() != 1 {
            return Err(failed(GroupModFailedCode::InvalidGroup));
        }
        Ok(Self {
            kind: group_mod.group_type,
            buckets,
            message: message.to_vec(),
            created: now,
            packets: 0,
            bytes: 0,
            spray: None,
            probing: None,
            resequencer: None,
            tunnel: None,
        })
    }

    /// The message that created it.
    pub(super) fn group_mod(&self) -> Option<GroupMod<'_>> {
        match Message::decode(&self.message) {
            Ok((_, Message::GroupMod(group_mod))) => Some(group_mod),
            _ => None,
        }
    }

    /// The groups that its buckets output to.
    pub(super) fn chained(&self) -> impl Iterator<Item = GroupId> {
        self.buckets.iter().flat_map(|bucket| bucket.actions.iter()).filter_map(|act| match act {
            Act::Group(group) => Some(*group),
            _ => None,
        })
    }
}

/// The weights of the buckets, whose paths are not measured yet.
pub(super) fn weights(group: &Group) -> Vec<PathWeight> {
    let weight = |bucket: &Bucket| PathWeight { weight: bucket.weight.into(), ..PathWeight::default() };
    group.buckets.iter().map(weight).collect()
}
