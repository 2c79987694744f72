//! Lookups of unknown addresses, and the packets held meanwhile.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{DatapathId, Time};

use super::{HostDeps, Hosts, host_ports, neighbors};
use crate::command::HeldPacket;
use crate::context::Context;
use crate::notice::Notice;

/// The pending lookups, with their held packets.
#[derive(Debug, Default)]
pub(super) struct Lookups(BTreeMap<IpAddr, Lookup>);

#[derive(Debug)]
struct Lookup {
    asked_at: Time,
    held: Vec<HeldPacket>,
}

impl Lookups {
    /// Whether a lookup of the address is pending.
    pub(super) fn is_pending(&self, target: IpAddr) -> bool {
        self.0.contains_key(&target)
    }

    /// Ends the lookup of an address that was seen; returns the held packets.
    pub(super) fn finish(&mut self, found: IpAddr) -> Vec<HeldPacket> {
        self.0.remove(&found).map(|lookup| lookup.held).unwrap_or_default()
    }

    /// Ends unanswered lookups.
    pub(super) fn expire(&mut self, cx: &Context<'_>) {
        self.0.retain(|_, lookup| cx.now.since(lookup.asked_at) < cx.settings.lookup_timeout);
    }
}

impl Hosts {
    /// Holds a packet that entered at `dpid` until `target` is found.
    pub(crate) fn look_up(
        &mut self,
        deps: &mut HostDeps<'_>,
        dpid: DatapathId,
        target: IpAddr,
        frame: &[u8],
    ) {
        let lookups = &mut self.lookups.0;
        if !lookups.contains_key(&target) {
            if lookups.len() >= deps.cx.settings.max_lookups {
                return deps.cx.out.notice(Notice::Full { what: "addresses looked for" });
            }
            lookups.insert(target, Lookup { asked_at: deps.cx.now, held: Vec::new() });
            let HostDeps { cx, discovery, .. } = deps;
            host_ports(discovery).for_each(|at| neighbors::ask_at(cx, at, target));
        }
        let has_room = |lookup: &&mut Lookup| lookup.held.len() < deps.cx.settings.max_held;
        if let Some(lookup) = lookups.get_mut(&target).filter(has_room) {
            lookup.held.push(HeldPacket { dpid, frame: frame.to_vec() });
        }
    }
}
