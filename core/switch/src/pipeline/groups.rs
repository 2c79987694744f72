//! The passage of packets through groups: to buckets, and through resequencers.

use braid_openflow::{ErrorCode, GroupId, GroupMod};
use braid_spray::{Fate, Settings};

use super::Pipeline;
use crate::environment::Environment;
use crate::groups::{Distribution, GroupChange, HeldPacket, MAX_DEPTH};
use crate::packets::{PacketContext, key};

impl Pipeline {
    /// Handles a controller's change of groups; `message` holds the bytes of `group_mod`.
    pub(crate) fn handle_group_mod(
        &mut self,
        env: &mut Environment<'_>,
        group_mod: &GroupMod<'_>,
        message: &[u8],
    ) -> Result<(), ErrorCode> {
        match self.groups.plan(env.now, group_mod, message)? {
            GroupChange::Put { id, group, is_displacing } => {
                if is_displacing {
                    self.flush(env, id);
                }
                let abandoned = self.groups.take_abandoned(env.now, id, &group);
                self.groups.put(id, *group);
                self.send_again(env, id, abandoned);
            }
            GroupChange::Delete(deleted) => {
                for id in &deleted {
                    self.flush(env, *id);
                    self.groups.remove(*id);
                }
                self.flows.remove_flows_to(env, &deleted);
            }
        }
        Ok(())
    }

    /// Starts, changes or stops the resequencing of a group.
    pub(crate) fn set_resequencing(
        &mut self,
        env: &mut Environment<'_>,
        id: GroupId,
        settings: Option<Settings>,
    ) -> Result<(), ErrorCode> {
        if let Some(settings) = settings {
            return self.groups.set_resequencing(id, settings, env.identity.seed);
        }
        self.groups.check_resequencing(id)?;
        self.flush(env, id);
        self.groups.stop_resequencing(id);
        Ok(())
    }

    pub(super) fn through_group(
        &mut self,
        env: &mut Environment<'_>,
        context: &mut PacketContext,
        id: GroupId,
    ) {
        if context.depth >= MAX_DEPTH {
            return;
        }
        let Some(distribution) = self.groups.enter(id, context.bytes()) else { return };
        match distribution {
            Distribution::Resequenced => self.through_resequencer(env, context, id),
            Distribution::All => self.through_all(env, context, id),
            Distribution::Indirect => self.through_bucket(env, context, id, 0),
            Distribution::FastFailover => {
                let first = self.groups.first_live(id, &self.ports);
                first.into_iter().for_each(|bucket| self.through_bucket(env, context, id, bucket));
            }
            Distribution::Tunnelled => self.through_tunnel(env, context, id),
            Distribution::Selected => self.through_selected(env, context, id),
        }
    }

    pub(super) fn through_selected(
        &mut self,
        env: &mut Environment<'_>,
        context: &mut PacketContext,
        id: GroupId,
    ) {
        let selected = self.groups.select(env.now, id, context, &self.ports);
        selected.into_iter().for_each(|bucket| self.through_bucket(env, context, id, bucket));
    }

    fn through_all(&mut self, env: &mut Environment<'_>, context: &mut PacketContext, id: GroupId) {
        let count = self.groups.bucket_count(id);
        let last = context.last;
        context.is_original &= count == 1;
        for bucket in 0..count {
            context.last = last && bucket + 1 == count;
            self.through_bucket(env, context, id, bucket);
        }
        context.last = last;
    }

    pub(super) fn through_bucket(
        &mut self,
        env: &mut Environment<'_>,
        context: &mut PacketContext,
        id: GroupId,
        bucket: usize,
    ) {
        let Some(actions) = self.groups.enter_bucket(id, bucket, context.bytes()) else { return };
        // Each bucket sees the packet without the changes of other buckets. OpenFlow 1.3.5 §5.6.1.
        let saved = (!context.last).then(|| context.save());
        context.depth += 1;
        self.run(env, context, &actions);
        context.depth -= 1;
        if let Some(saved) = saved {
            context.restore(saved);
        }
    }

    /// Actions after the group see the packet as it arrived, in its tunnel.
    fn through_resequencer(&mut self, env: &mut Environment<'_>, context: &mut PacketContext, id: GroupId) {
        let saved = (self.groups.has_tunnel(id) && !context.last).then(|| context.save());
        self.resequence(env, context, id);
        if let Some(saved) = saved {
            context.restore(saved);
        }
    }

    fn resequence(&mut self, env: &mut Environment<'_>, context: &mut PacketContext, id: GroupId) {
        let flow = match self.leave_tunnel(context, id) {
            Some(numbered) => Some(key::numbered_flow(&context.key, numbered)),
            None => key::five_tuple(&context.key, &context.layout),
        };
        let Some((resequencer, (flow, segment))) = self.groups.resequencer(id).zip(flow) else {
            return self.through_bucket(env, context, id, 0);
        };
        if resequencer.offer(env.now, &flow, segment, context) == Fate::Forward {
            self.through_bucket(env, context, id, 0);
        }
        self.release(env, id);
    }

    /// Forwards the packets that a group releases.
    pub(super) fn release(&mut self, env: &mut Environment<'_>, id: GroupId) {
        while let Some(HeldPacket { in_port, packet }) = self.groups.poll_released(id) {
            let mut context = PacketContext { is_original: false, ..PacketContext::new(in_port, packet) };
            self.through_bucket(env, &mut context, id, 0);
        }
    }

    /// Forwards all packets that a group holds, before it is removed.
    fn flush(&mut self, env: &mut Environment<'_>, id: GroupId) {
        if let Some(resequencer) = self.groups.resequencer(id) {
            resequencer.flush(env.now);
        }
        self.release(env, id);
    }
}
