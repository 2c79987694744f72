//! The passage of packets into and out of the tunnels of groups.

use braid_openflow::GroupId;

use super::Pipeline;
use crate::environment::Environment;
use crate::packets::fragment::fragments;
use crate::packets::key::{self, Key};
use crate::packets::{GSO_UDP, Packet, PacketContext};
use crate::tunnel::{Numbered, decapsulate};

impl Pipeline {
    /// Passes a packet through a spraying group that encapsulates: all IP except TCP, which has sequence numbers of
    /// its own.
    pub(super) fn through_tunnel(
        &mut self,
        env: &mut Environment<'_>,
        context: &mut PacketContext,
        id: GroupId,
    ) {
        let Some(flow) = key::datagram_flow(&context.key, &context.layout) else {
            return self.through_selected(env, context, id);
        };
        let before = (!context.last).then(|| context.packet.clone());
        match self.cut(context, id) {
            None => self.enter_tunnel(env, context, id, &flow),
            Some(parts) => {
                for part in parts {
                    (context.packet, context.last) = (part, true);
                    context.reread();
                    self.enter_tunnel(env, context, id, &flow);
                }
                context.last = before.is_none();
            }
        }
        if let Some(before) = before {
            (context.packet, context.added) = (before, 0);
            context.reread();
        }
    }

    /// The datagrams of a GSO packet, or the fragments of a packet too big for some path; `None` if it enters as it is.
    fn cut(&self, context: &PacketContext, id: GroupId) -> Option<Vec<Packet>> {
        let PacketContext { packet, key, layout, .. } = context;
        let mtu = self.groups.tunnel_mtu(id, layout.network?, &self.ports);
        let mtu = mtu.filter(|mtu| context.length() > *mtu);
        let cut = mtu.and_then(|mtu| fragments(packet, key, layout, mtu));
        cut.or_else(|| (packet.offload.gso_type == GSO_UDP).then(|| packet.cut()).flatten())
    }

    fn enter_tunnel(
        &mut self,
        env: &mut Environment<'_>,
        context: &mut PacketContext,
        id: GroupId,
        flow: &Key,
    ) {
        let Some(bucket) = self.groups.select(env.now, id, context, &self.ports) else { return };
        self.groups.encapsulate(id, bucket, flow, context);
        self.through_bucket(env, context, id, bucket);
    }

    /// Decapsulates a packet, if the group does so and the packet is in a tunnel.
    pub(super) fn leave_tunnel(&self, context: &mut PacketContext, id: GroupId) -> Option<Numbered> {
        let leaves = self.groups.decapsulates(id, context);
        let numbered = leaves.then(|| decapsulate(&mut context.packet, &context.key, &context.layout))??;
        context.is_original = false;
        context.reread();
        Some(numbered)
    }
}
