//! Group changes: checked first, then applied, so that held packets can be released in between.

use braid_openflow::{ErrorCode, GroupId, GroupMod, GroupModCommand, GroupModFailedCode};
use braid_spray::Scheduler;
use braid_types::Time;

use super::group::{Bucket, Group, weights};
use super::unanswered::KeptPacket;
use super::{Groups, MAX_GROUPS, UNKNOWN, failed};

/// A change that was checked.
pub(crate) enum GroupChange {
    /// A group is added or replaced.
    Put {
        /// Its number.
        id: GroupId,
        /// Its new state.
        group: Box<Group>,
        /// Whether it replaces a group of another type, which must release its held packets.
        is_displacing: bool,
    },
    /// Groups are deleted, in this order.
    Delete(Vec<GroupId>),
}

impl Groups {
    /// Checks a change; `message` holds the bytes of `group_mod`.
    pub(crate) fn plan(
        &self,
        now: Time,
        group_mod: &GroupMod<'_>,
        message: &[u8],
    ) -> Result<GroupChange, ErrorCode> {
        let known = self.all.contains_key(&group_mod.group_id);
        match group_mod.command {
            GroupModCommand::Add if known => Err(failed(GroupModFailedCode::GroupExists)),
            GroupModCommand::Modify if !known => Err(UNKNOWN),
            GroupModCommand::Add | GroupModCommand::Modify | GroupModCommand::AddOrMod => {
                self.plan_put(now, group_mod, message)
            }
            GroupModCommand::Delete => Ok(GroupChange::Delete(self.with_chained(group_mod.group_id))),
            GroupModCommand::Unknown(_) => Err(failed(GroupModFailedCode::BadCommand)),
        }
    }

    fn plan_put(
        &self,
        now: Time,
        group_mod: &GroupMod<'_>,
        message: &[u8],
    ) -> Result<GroupChange, ErrorCode> {
        let id = group_mod.group_id;
        if id > GroupId::MAX {
            return Err(failed(GroupModFailedCode::InvalidGroup));
        }
        let group = Group::new(now, group_mod, message)?;
        if group.chained().any(|next| next == id || self.reaches(next, id, 0)) {
            return Err(failed(GroupModFailedCode::Loop));
        }
        self.check_acts(group.buckets.iter().flat_map(|bucket| bucket.actions.iter()))?;
        let old = self.all.get(&id);
        if self.all.len() >= MAX_GROUPS && old.is_none() {
            return Err(failed(GroupModFailedCode::OutOfGroups));
        }
        let is_displacing = old.is_some_and(|old| old.kind != group.kind);
        Ok(GroupChange::Put { id, group: Box::new(group), is_displacing })
    }

    /// Adds or replaces a group. A replacement of the same type continues spraying, or resequencing, with the held
    /// packets.
    pub(crate) fn put(&mut self, id: GroupId, mut group: Group) {
        if let Some(old) = self.all.remove(&id).filter(|old| old.kind == group.kind) {
            (group.packets, group.bytes, group.created) = (old.packets, old.bytes, old.created);
            group.resequencer = old.resequencer;
            group.tunnel = old.tunnel.filter(|tunnel| tunnel.fits(group.buckets.len()));
            group.spray = old.spray.map(|spray| Scheduler::new(spray.policy(), &weights(&group)));
        }
        self.all.insert(id, group);
    }

    /// The segments to send again, since a change takes their paths out of a group.
    pub(crate) fn take_abandoned(&mut self, now: Time, id: GroupId, changed: &Group) -> Vec<KeptPacket> {
        let Some(old) = self.all.get_mut(&id).filter(|old| old.kind == changed.kind) else {
            return Vec::new();
        };
        let stays = |bucket: &Bucket| changed.buckets.iter().any(|it| it.actions == bucket.actions);
        let gone = (0..).zip(&old.buckets).filter(|(_, bucket)| !stays(bucket)).map(|(place, _)| place);
        let probing = &mut old.probing;
        gone.flat_map(|place| {
            probing.iter_mut().flat_map(move |it| it.take_of(now, place)).collect::<Vec<_>>()
        })
        .collect()
    }

    pub(crate) fn remove(&mut self, id: GroupId) {
        self.all.remove(&id);
    }

    fn reaches(&self, from: GroupId, to: GroupId, depth: usize) -> bool {
        // No chain is longer than the number of groups; loops are refused.
        depth <= MAX_GROUPS
            && self.all.get(&from).is_some_and(|group| {
                group.chained().any(|next| next == to || self.reaches(next, to, depth + 1))
            })
    }

    /// A group, or all, with the groups that output to it, which are useless without it. OpenFlow 1.3.5 §6.7.
    fn with_chained(&self, id: GroupId) -> Vec<GroupId> {
        let mut deleted: Vec<_> = match id {
            GroupId::ALL => self.all.keys().copied().collect(),
            id => self.all.contains_key(&id).then_some(id).into_iter().collect(),
        };
        while let Some(next) = self.all.iter().find(|(other, group)| {
            !deleted.contains(other) && group.chained().any(|chained| deleted.contains(&chained))
        }) {
            deleted.push(*next.0);
        }
        deleted
    }
}
