//! Groups: added, changed, deleted, made to spray or to put in order.

use braid_openflow::{
    BadRequestCode, ErrorCode, GroupId, GroupMod, GroupModCommand, GroupModFailedCode, GroupType,
};
use braid_spray::{PathWeight, Policy, Resequencer, Scheduler, Settings};
use braid_types::{Time, mix};

use super::{GROUPS, Switch};
use crate::group::{Group, Order, Waiting};
use crate::tunnel::{Ends, Numbers, Tunnel};
use braid_edge_protocol::extension::PathUpdate;

/// Most that all groups together may hold, so that no number of groups takes more memory.
const MOST_HELD: u64 = 512 << 20;

const fn failed(code: GroupModFailedCode) -> ErrorCode {
    ErrorCode::GroupModFailed(code)
}

const UNKNOWN: ErrorCode = failed(GroupModFailedCode::UnknownGroup);

impl Switch {
    pub(super) fn group_mod(
        &mut self,
        now: Time,
        group_mod: &GroupMod<'_>,
        message: &[u8],
    ) -> Result<(), ErrorCode> {
        let known = self.groups.contains_key(&group_mod.group_id);
        match group_mod.command {
            GroupModCommand::Add if known => Err(failed(GroupModFailedCode::GroupExists)),
            GroupModCommand::Modify if !known => Err(UNKNOWN),
            GroupModCommand::Add | GroupModCommand::Modify | GroupModCommand::AddOrMod => {
                self.put_group(now, group_mod, message)
            }
            GroupModCommand::Delete => {
                self.delete_groups(now, group_mod.group_id);
                Ok(())
            }
            GroupModCommand::Unknown(_) => Err(failed(GroupModFailedCode::BadCommand)),
        }
    }

    fn put_group(&mut self, now: Time, group_mod: &GroupMod<'_>, message: &[u8]) -> Result<(), ErrorCode> {
        let id = group_mod.group_id;
        if id > GroupId::MAX {
            return Err(failed(GroupModFailedCode::InvalidGroup));
        }
        let mut group = Group::new(now, group_mod, message)?;
        if group.chained().any(|next| next == id || self.reaches(next, id, 0)) {
            return Err(failed(GroupModFailedCode::Loop));
        }
        self.check_acts(group.buckets.iter().flat_map(|bucket| bucket.actions.iter()))?;
        if self.groups.len() >= GROUPS && !self.groups.contains_key(&id) {
            return Err(failed(GroupModFailedCode::OutOfGroups));
        }
        if self.groups.get(&id).is_some_and(|old| old.kind != group.kind) {
            self.flush(now, id);
        }
        // A group that is changed goes on spraying, or putting in order, with what it holds.
        if let Some(old) = self.groups.remove(&id).filter(|old| old.kind == group.kind) {
            (group.packets, group.bytes, group.created) = (old.packets, old.bytes, old.created);
            group.order = old.order;
            group.tunnel = old.tunnel.filter(|tunnel| tunnel.fits(group.buckets.len()));
            group.spray = old.spray.map(|spray| Scheduler::new(spray.policy(), &weights(&group)));
        }
        self.groups.insert(id, group);
        Ok(())
    }

    fn reaches(&self, from: GroupId, to: GroupId, depth: usize) -> bool {
        // No chain is longer than there are groups; loops are never let in.
        depth <= GROUPS
            && self.groups.get(&from).is_some_and(|group| {
                group.chained().any(|next| next == to || self.reaches(next, to, depth + 1))
            })
    }

    fn delete_groups(&mut self, now: Time, id: GroupId) {
        let mut gone: Vec<_> = match id {
            GroupId::ALL => self.groups.keys().copied().collect(),
            id => self.groups.contains_key(&id).then_some(id).into_iter().collect(),
        };
        // Groups that hand packets to one that goes are of no use either. OpenFlow 1.3.5 §6.7.
        while let Some(next) = self.groups.iter().find(|(other, group)| {
            !gone.contains(other) && group.chained().any(|chained| gone.contains(&chained))
        }) {
            gone.push(*next.0);
        }
        for id in &gone {
            self.flush(now, *id);
            self.groups.remove(id);
        }
        self.remove_flows_of(now, &gone);
    }

    /// A select group decides for each packet from now on.
    pub(super) fn set_spray(&mut self, id: GroupId, policy: Policy) -> Result<(), ErrorCode> {
        let group = self.groups.get_mut(&id).ok_or(UNKNOWN)?;
        if group.kind != GroupType::Select {
            return Err(failed(GroupModFailedCode::BadType));
        }
        group.spray = Some(Scheduler::new(policy, &weights(group)));
        Ok(())
    }

    pub(super) fn set_paths(&mut self, id: GroupId, updates: &[PathUpdate]) -> Result<(), ErrorCode> {
        let spray = self.groups.get_mut(&id).and_then(|group| group.spray.as_mut()).ok_or(UNKNOWN)?;
        let known = |update: &PathUpdate| (update.bucket as usize) < spray.paths().len();
        if !updates.iter().all(known) {
            return Err(failed(GroupModFailedCode::BadBucket));
        }
        for update in updates {
            let PathUpdate { bucket, weight, rate, delay } = *update;
            spray.set(bucket as usize, PathWeight { weight, rate, delay });
        }
        let shares: Vec<_> = spray.paths().iter().map(|path| path.weight).collect();
        if let Some(probing) = self.groups.get_mut(&id).and_then(|group| group.probing.as_mut()) {
            probing.feedback.set_shares(&shares);
        }
        Ok(())
    }

    pub(super) fn set_order(
        &mut self,
        now: Time,
        id: GroupId,
        settings: Option<Settings>,
    ) -> Result<(), ErrorCode> {
        let others = self.groups.iter().filter(|(other, _)| **other != id);
        let taken: u64 = others.filter_map(|(_, it)| Some(it.order.as_ref()?.buffer.settings().bytes)).sum();
        let group = self.groups.get_mut(&id).ok_or(UNKNOWN)?;
        if group.kind != GroupType::Indirect {
            return Err(failed(GroupModFailedCode::BadType));
        }
        let Some(settings) = settings else {
            self.flush(now, id);
            if let Some(group) = self.groups.get_mut(&id) {
                group.order = None;
            }
            return Ok(());
        };
        if settings.check().is_err() || taken.saturating_add(settings.bytes) > MOST_HELD {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadLen));
        }
        match &mut group.order {
            Some(order) => {
                order.renew_ways();
                order.buffer.change(settings);
            }
            None => {
                let buffer = Resequencer::<Waiting>::new(settings, self.identity.seed);
                group.order = Some(Box::new(Order::new(buffer)));
            }
        }
        Ok(())
    }

    /// A group that sprays encapsulates, with ends for each bucket, or one that puts in order takes out what is encapsulated.
    pub(super) fn set_tunnel(
        &mut self,
        now: Time,
        id: GroupId,
        wanted: Option<&[Ends]>,
    ) -> Result<(), ErrorCode> {
        // Another each time: the far edge may remember the numbers of the one before.
        let seed = mix(self.identity.seed ^ now.as_nanos() ^ u64::from(id.0).rotate_left(32));
        let group = self.groups.get_mut(&id).ok_or(UNKNOWN)?;
        group.tunnel = match wanted {
            None => None,
            Some([]) if group.order.is_some() => Some(Box::new(Tunnel::Leaves)),
            Some(ends) if group.spray.is_some() && ends.len() == group.buckets.len() => {
                let ends = ends.to_vec();
                Some(Box::new(Tunnel::Enters { ends, numbers: Numbers::new(seed) }))
            }
            Some(_) if group.spray.is_some() => return Err(failed(GroupModFailedCode::BadBucket)),
            Some(_) => return Err(UNKNOWN),
        };
        Ok(())
    }

    /// Sends on what a group holds, before it goes.
    fn flush(&mut self, now: Time, id: GroupId) {
        if let Some(order) = self.groups.get_mut(&id).and_then(|group| group.order.as_mut()) {
            order.buffer.flush(now);
        }
        self.release(now, id);
    }
}

/// The buckets' weights; their paths are not known yet.
fn weights(group: &Group) -> Vec<PathWeight> {
    let weight =
        |bucket: &crate::group::Bucket| PathWeight { weight: bucket.weight.into(), ..PathWeight::default() };
    group.buckets.iter().map(weight).collect()
}
