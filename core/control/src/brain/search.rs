//! Packets to addresses that are not known yet wait while every host is asked.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{DatapathId, Time};

use super::Brain;
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
