//! Groups with their buckets, and the state that spraying and resequencing groups keep.

use std::sync::Arc;

use braid_openflow::{ErrorCode, GroupId, GroupMod, GroupModFailedCode, GroupType, Message};
use braid_spray::{PathId, Resequencer, Scheduler};
use braid_types::{MacAddr, PortNo, Time};

use crate::action::{Act, acts};
use crate::packet::Packet;
use crate::switch::Probing;
use crate::tunnel::Tunnel;

/// Most ways that are told apart.
const MOST_WAYS: usize = 8;
/// Most buckets of a group.
const BUCKETS: usize = 64;

/// A group, and the message that made it.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) kind: GroupType,
    pub(crate) buckets: Vec<Bucket>,
    pub(crate) message: Vec<u8>,
    pub(crate) created: Time,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// A select group that decides for each packet.
    pub(crate) spray: Option<Scheduler>,
    /// What a group that sprays learns of its paths.
    pub(crate) probing: Option<Box<Probing>>,
    /// A group that puts packets in order before its buckets have them.
    pub(crate) order: Option<Box<Order>>,
    /// What it puts into tunnels, or takes out of them.
    pub(crate) tunnel: Option<Box<Tunnel>>,
}

/// What puts packets in order, and by which ways they come.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) buffer: Resequencer<Waiting>,
    ways: Vec<(PortNo, MacAddr)>,
}

/// A packet that waits, and where it came from.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) in_port: PortNo,
    pub(crate) packet: Packet,
}

/// One of a group's lists of actions.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    pub(crate) weight: u16,
    pub(crate) watch_port: PortNo,
    pub(crate) watch_group: GroupId,
    pub(crate) actions: Arc<[Act]>,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

const fn failed(code: GroupModFailedCode) -> ErrorCode {
    ErrorCode::GroupModFailed(code)
}

impl Group {
    /// The group that `group_mod` describes; `message` is its bytes.
    pub(crate) fn new(now: Time, group_mod: &GroupMod<'_>, message: &[u8]) -> Result<Self, ErrorCode> {
        if matches!(group_mod.group_type, GroupType::Unknown(_)) {
            return Err(failed(GroupModFailedCode::BadType));
        }
        let buckets = group_mod.buckets.iter().map(|bucket| {
            let actions = acts(bucket.actions)?;
            let (weight, watch_port, watch_group) = (bucket.weight, bucket.watch_port, bucket.watch_group);
            Ok(Bucket { weight, watch_port, watch_group, actions, packets: 0, bytes: 0 })
        });
        let buckets = buckets.collect::<Result<Vec<_>, ErrorCode>>()?;
        if buckets.len() > BUCKETS {
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
            order: None,
            tunnel: None,
        })
    }

    /// What made it.
    pub(crate) fn group_mod(&self) -> Option<GroupMod<'_>> {
        match Message::decode(&self.message) {
            Ok((_, Message::GroupMod(group_mod))) => Some(group_mod),
            _ => None,
        }
    }

    /// The groups that its buckets hand packets to.
    pub(crate) fn chained(&self) -> impl Iterator<Item = GroupId> {
        self.buckets.iter().flat_map(|bucket| bucket.actions.iter()).filter_map(|act| match act {
            Act::Group(group) => Some(*group),
            _ => None,
        })
    }
}

impl Order {
    pub(crate) const fn new(buffer: Resequencer<Waiting>) -> Self {
        Self { buffer, ways: Vec::new() }
    }

    pub(crate) fn ways(&self) -> &[(PortNo, MacAddr)] {
        &self.ways
    }

    /// Ways may have come and gone: if there is no room for more, they are told apart and counted anew.
    pub(crate) fn renew_ways(&mut self) {
        if self.ways.len() >= MOST_WAYS {
            self.ways.clear();
            self.buffer.forget_paths();
        }
    }

    /// The number of a way, by where packets come in and by the label that they have then. The ninth and later are one.
    pub(crate) fn way(&mut self, in_port: PortNo, label: MacAddr) -> PathId {
        let place = self.ways.iter().position(|way| *way == (in_port, label));
        let place = place.unwrap_or_else(|| {
            if self.ways.len() < MOST_WAYS {
                self.ways.push((in_port, label));
                self.ways.len() - 1
            } else {
                MOST_WAYS
            }
        });
        PathId(place as u8)
    }
}
