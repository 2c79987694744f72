//! Address conflicts: a port uses an address that is in use at another port. The holder is probed before the address
//! may move.
//!
//! ```text
//!            used elsewhere                    holder silent, or its port down
//!  (held) ────────────────────▶ Pending ──────────────────────────────────────▶ moved
//!     ▲                           │ holder heard
//!     └────── a while later ─── Refused
//! ```

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{MacAddr, SwitchPort, Time};

use super::{Binding, HostDeps, Hosts, neighbors};
use crate::context::Context;
use crate::threat::Threat;

/// The greatest number of conflicts. Further ones are refused at once.
const MAX_CONFLICTS: usize = 1_024;

/// Open and recently refused conflicts, by address.
#[derive(Debug, Default)]
pub(super) struct Conflicts(BTreeMap<ClaimedAddress, Conflict>);

/// The address in conflict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ClaimedAddress {
    Mac(MacAddr),
    Ip(IpAddr),
}

#[derive(Clone, Copy, Debug)]
struct Conflict {
    by: Binding,
    /// The present holder, and the address at which it is probed.
    holder: Binding,
    since: Time,
    refused: bool,
}

impl Conflict {
    /// Whether the holder may still answer, or the conflict is still refused.
    fn is_open(&self, cx: &Context<'_>) -> bool {
        match self.refused {
            true => cx.now.since(self.since) < cx.settings.conflict_hold,
            false => cx.listened(self.since) < cx.settings.conflict_timeout,
        }
    }
}

impl Conflicts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Hosts {
    /// Whether to accept a packet of `speaker`: nobody else holds the addresses that it uses.
    pub(super) fn is_accepted(&mut self, deps: &mut HostDeps<'_>, speaker: Binding) -> bool {
        self.note_holder_alive(deps, speaker);
        let Some((subject, holder)) = contested(deps, speaker) else { return true };
        let known = self.conflicts.0.get(&subject).filter(|conflict| conflict.holder.at == holder.at);
        if let Some(conflict) = known {
            if conflict.refused {
                refuse(deps, speaker.at, subject, holder.at);
            }
            return false;
        }
        if self.conflicts.0.len() < MAX_CONFLICTS && deps.admission.admit_address(&mut deps.cx, speaker.at) {
            let since = deps.cx.now;
            neighbors::ask_at(&mut deps.cx, holder.at, holder.ip);
            self.conflicts.0.insert(subject, Conflict { by: speaker, holder, since, refused: false });
        }
        false
    }

    /// Probes the holders again and accepts the new ports if they did not answer in time. Called once a tick.
    pub(super) fn settle_conflicts(&mut self, deps: &mut HostDeps<'_>) {
        let conflicts = std::mem::take(&mut self.conflicts.0);
        for (subject, conflict) in conflicts {
            if deps.is_host_port(conflict.holder.at) && conflict.is_open(&deps.cx) {
                self.conflicts.0.insert(subject, conflict);
            } else if !conflict.refused {
                self.accept_claim(deps, subject, conflict.by);
            }
        }
        for conflict in self.conflicts.0.values().filter(|conflict| !conflict.refused) {
            neighbors::ask_at(&mut deps.cx, conflict.holder.at, conflict.holder.ip);
        }
    }

    /// A holder that sends anything keeps its addresses.
    fn note_holder_alive(&mut self, deps: &mut HostDeps<'_>, speaker: Binding) {
        for subject in [ClaimedAddress::Mac(speaker.mac), ClaimedAddress::Ip(speaker.ip)] {
            let open = self.conflicts.0.get_mut(&subject).filter(|conflict| !conflict.refused);
            let Some(conflict) = open else { continue };
            if (conflict.holder.mac, conflict.holder.at) != (speaker.mac, speaker.at) {
                continue;
            }
            (conflict.refused, conflict.since) = (true, deps.cx.now);
            let (by, holder) = (conflict.by, conflict.holder.at);
            refuse(deps, by.at, subject, holder);
            if deps.cx.topology.host_with_address(by.ip).is_some_and(|host| host.at == holder) {
                self.filters.add(&mut deps.cx, by.at, by.ip, holder);
            }
        }
    }

    fn accept_claim(&mut self, deps: &mut HostDeps<'_>, subject: ClaimedAddress, by: Binding) {
        if !deps.is_host_port(by.at) {
            return;
        }
        // The IP address may be that of a third host, which is another conflict.
        let ip = match subject {
            ClaimedAddress::Mac(_) => None,
            ClaimedAddress::Ip(ip) => Some(ip),
        };
        if self.learn_at(deps, by.mac, ip, by.at) && ip.is_none() {
            self.learn(deps, by);
        }
    }
}

/// The holder of an address of `speaker`, if it is at another port that is up.
fn contested(deps: &mut HostDeps<'_>, speaker: Binding) -> Option<(ClaimedAddress, Binding)> {
    let elsewhere = |at| at != speaker.at && deps.is_host_port(at);
    let Binding { mac, ip, .. } = speaker;
    // A host without a known IP address cannot be probed.
    let same = deps.cx.topology.host(mac).filter(|host| elsewhere(host.at));
    if let Some((host, known)) = same.and_then(|host| Some((host, *host.addresses.last()?))) {
        return Some((ClaimedAddress::Mac(mac), Binding { mac, ip: known, at: host.at }));
    }
    let other = deps.cx.topology.host_with_address(ip).filter(|host| host.mac != mac && elsewhere(host.at));
    other.map(|host| (ClaimedAddress::Ip(ip), Binding { mac: host.mac, ip, at: host.at }))
}

fn refuse(deps: &mut HostDeps<'_>, at: SwitchPort, subject: ClaimedAddress, holder: SwitchPort) {
    deps.cx.counters.claims_refused += 1;
    let threat = match subject {
        ClaimedAddress::Mac(mac) => Threat::StolenMac { mac, holder },
        ClaimedAddress::Ip(ip) => Threat::StolenIp { ip, holder },
    };
    deps.admission.raise(&mut deps.cx, at, threat);
}
