//! Address conflicts: a claim to an address in use at another port. The holder is probed before the claim is
//! accepted.
//!
//! ```text
//!            claimed elsewhere                 holder silent, or its port down
//!  (held) ────────────────────▶ Pending ──────────────────────────────────────▶ moved
//!     ▲                           │ holder heard
//!     └────── a while later ─── Refused
//! ```

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{MacAddr, SwitchPort, Time};

use super::{Below, Binding, Hosts, neighbors};
use crate::threat::Threat;

/// Conflicts at one time. Further claims are refused.
const MAX_CONFLICTS: usize = 1_024;

/// Open and recently refused conflicts, by address.
#[derive(Debug, Default)]
pub(super) struct Conflicts(BTreeMap<Subject, Conflict>);

/// The address that is claimed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Subject {
    Mac(MacAddr),
    Ip(IpAddr),
}

#[derive(Clone, Copy, Debug)]
struct Conflict {
    by: Binding,
    /// The present holder, and the address at which it is probed.
    holder: Binding,
    until: Time,
    refused: bool,
}

impl Conflicts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Hosts {
    /// Whether to accept a packet of `speaker`: nobody else holds the addresses that it uses.
    pub(super) fn has_right(&mut self, below: &mut Below<'_>, speaker: Binding) -> bool {
        self.hear_holder(below, speaker);
        let Some((subject, holder)) = contested(below, speaker) else { return true };
        let known = self.conflicts.0.get(&subject).filter(|conflict| conflict.holder.at == holder.at);
        if let Some(conflict) = known {
            if conflict.refused {
                refuse(below, speaker.at, subject, holder.at);
            }
            return false;
        }
        if self.conflicts.0.len() < MAX_CONFLICTS && below.admission.admit_address(&mut below.cx, speaker.at)
        {
            let until = below.cx.now + below.cx.settings.conflict_timeout;
            neighbors::ask_at(&mut below.cx, holder.at, holder.ip);
            self.conflicts.0.insert(subject, Conflict { by: speaker, holder, until, refused: false });
        }
        false
    }

    /// Probes the holders again and accepts claims whose holders did not answer in time. Called once a tick.
    pub(super) fn settle_conflicts(&mut self, below: &mut Below<'_>) {
        let conflicts = std::mem::take(&mut self.conflicts.0);
        for (subject, conflict) in conflicts {
            if below.is_host_port(conflict.holder.at) && below.cx.now < conflict.until {
                self.conflicts.0.insert(subject, conflict);
            } else if !conflict.refused {
                self.believe(below, subject, conflict.by);
            }
        }
        for conflict in self.conflicts.0.values().filter(|conflict| !conflict.refused) {
            neighbors::ask_at(&mut below.cx, conflict.holder.at, conflict.holder.ip);
        }
    }

    /// A holder that sends anything keeps its addresses.
    fn hear_holder(&mut self, below: &mut Below<'_>, speaker: Binding) {
        for subject in [Subject::Mac(speaker.mac), Subject::Ip(speaker.ip)] {
            let open = self.conflicts.0.get_mut(&subject).filter(|conflict| !conflict.refused);
            let Some(conflict) = open else { continue };
            if (conflict.holder.mac, conflict.holder.at) != (speaker.mac, speaker.at) {
                continue;
            }
            (conflict.refused, conflict.until) = (true, below.cx.now + below.cx.settings.conflict_hold);
            let (by, holder) = (conflict.by, conflict.holder.at);
            refuse(below, by.at, subject, holder);
            if below.cx.topology.host_with_address(by.ip).is_some_and(|host| host.at == holder) {
                self.filters.add(&mut below.cx, by.at, by.ip, holder);
            }
        }
    }

    fn believe(&mut self, below: &mut Below<'_>, subject: Subject, by: Binding) {
        if !below.is_host_port(by.at) {
            return;
        }
        // The IP address may be that of a third host, which is another conflict.
        let ip = match subject {
            Subject::Mac(_) => None,
            Subject::Ip(ip) => Some(ip),
        };
        if self.learn_at(below, by.mac, ip, by.at) && ip.is_none() {
            self.learn(below, by);
        }
    }
}

/// The holder of an address of `speaker`, if it is at another port that is up.
fn contested(below: &mut Below<'_>, speaker: Binding) -> Option<(Subject, Binding)> {
    let elsewhere = |at| at != speaker.at && below.is_host_port(at);
    let Binding { mac, ip, .. } = speaker;
    // A host without a known IP address cannot be probed.
    let same = below.cx.topology.host(mac).filter(|host| elsewhere(host.at));
    if let Some((host, known)) = same.and_then(|host| Some((host, *host.addresses.last()?))) {
        return Some((Subject::Mac(mac), Binding { mac, ip: known, at: host.at }));
    }
    let other = below.cx.topology.host_with_address(ip).filter(|host| host.mac != mac && elsewhere(host.at));
    other.map(|host| (Subject::Ip(ip), Binding { mac: host.mac, ip, at: host.at }))
}

fn refuse(below: &mut Below<'_>, at: SwitchPort, subject: Subject, holder: SwitchPort) {
    below.cx.counters.claims_refused += 1;
    let threat = match subject {
        Subject::Mac(mac) => Threat::StolenMac { mac, holder },
        Subject::Ip(ip) => Threat::StolenIp { ip, holder },
    };
    below.admission.raise(&mut below.cx, at, threat);
}
