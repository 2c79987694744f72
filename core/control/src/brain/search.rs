//! Packets to addresses that are not known yet wait while every host is asked.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_packet::{Ip, Transport};
use braid_types::{DatapathId, SwitchPort, Time};

use super::packets::DHCP_CLIENT;
use super::{Brain, context};
use crate::command::Commands;
use crate::notice::Notice;

/// The addresses that are looked for, and the packets that wait for each.
#[derive(Debug, Default)]
pub(super) struct Searches(BTreeMap<IpAddr, Search>);

#[derive(Debug)]
struct Search {
    asked_at: Time,
    held: Vec<(DatapathId, Vec<u8>)>,
}

impl Searches {
    /// Whether the address is looked for.
    pub(super) fn is_open(&self, target: IpAddr) -> bool {
        self.0.contains_key(&target)
    }
}

impl Brain {
    /// Whether a packet may go on: if its destination must be looked for first, only so many of a port may.
    pub(super) fn may_look_up(&mut self, now: Time, at: SwitchPort, ip: &Ip<'_>, out: &mut Commands) -> bool {
        let is_for_many = match &ip.transport {
            Transport::Icmpv6(_) => true,
            Transport::Udp(udp) => udp.dst_port == DHCP_CLIENT,
            _ => false,
        };
        let is_known = || self.topology.host_with_address(ip.dst).is_some() || self.searches.is_open(ip.dst);
        is_for_many || is_known() || self.admission.admit_address(&mut context!(self, now, out), at)
    }

    /// Holds a packet that entered at `dpid` until `target` is found.
    pub(super) fn search(
        &mut self,
        now: Time,
        dpid: DatapathId,
        target: IpAddr,
        bytes: &[u8],
        out: &mut Commands,
    ) {
        let (max_searches, max_held) = (self.settings.max_searches, self.settings.max_held);
        if !self.searches.0.contains_key(&target) {
            if self.searches.0.len() >= max_searches {
                return out.notice(Notice::Full { what: "addresses looked for" });
            }
            self.searches.0.insert(target, Search { asked_at: now, held: Vec::new() });
            self.ask_hosts(target, out);
        }
        if let Some(search) = self.searches.0.get_mut(&target).filter(|search| search.held.len() < max_held) {
            search.held.push((dpid, bytes.to_vec()));
        }
    }

    /// The address was seen: the packets that wait for it enter again.
    pub(super) fn end_search(&mut self, now: Time, found: IpAddr, out: &mut Commands) {
        let Some(search) = self.searches.0.remove(&found) else { return };
        for (dpid, bytes) in search.held {
            self.resume(now, dpid, &bytes, out);
        }
    }

    /// Gives up the searches that nobody answered.
    pub(super) fn expire_searches(&mut self, now: Time) {
        let timeout = self.settings.search_timeout;
        self.searches.0.retain(|_, search| now.since(search.asked_at) < timeout);
    }
}
