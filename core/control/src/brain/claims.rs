//! An address that is in use at one port is claimed at another: its holder is asked before anyone is believed.
//!
//! ```text
//!            claimed elsewhere                 holder silent, or its port down
//!  (held) ────────────────────▶ Asking ──────────────────────────────────────▶ moved
//!     ▲                           │ holder heard
//!     └────── a while later ─── Refused
//! ```

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{MacAddr, SwitchPort, Time};

use super::{Brain, context};
use crate::command::Commands;
use crate::role::Role;
use crate::threat::Threat;

/// Claims at one time; more are refused.
const MAX_CLAIMS: usize = 1_024;

/// The addresses that are claimed where they were not before.
#[derive(Debug, Default)]
pub(super) struct Claims(BTreeMap<Subject, Claim>);

/// What is claimed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Subject {
    Mac(MacAddr),
    Ip(IpAddr),
}

/// Somebody who sends from a port, with addresses as its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Speaker {
    pub(super) mac: MacAddr,
    pub(super) ip: IpAddr,
    pub(super) at: SwitchPort,
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    by: Speaker,
    /// Who has it, and the address by which it is asked.
    holder: Speaker,
    until: Time,
    refused: bool,
}

impl Claims {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Brain {
    /// Whether to go on with a packet of `speaker`: what it claims is its own, or nobody else's.
    pub(super) fn has_right(&mut self, now: Time, speaker: Speaker, out: &mut Commands) -> bool {
        self.hear(now, speaker, out);
        let Some((subject, holder)) = self.contested(speaker) else { return true };
        if let Some(claim) = self.claims.0.get(&subject).filter(|claim| claim.holder.at == holder.at) {
            if claim.refused {
                self.refuse(now, speaker.at, subject, holder.at, out);
            }
            return false;
        }
        if self.claims.0.len() < MAX_CLAIMS
            && self.admission.admit_address(&mut context!(self, now, out), speaker.at)
        {
            let until = now + self.settings.claim_timeout;
            self.ask_at(holder.at, holder.ip, out);
            self.claims.0.insert(subject, Claim { by: speaker, holder, until, refused: false });
        }
        false
    }

    /// Who has what `speaker` says it has, if that is at another port that is up.
    fn contested(&self, speaker: Speaker) -> Option<(Subject, Speaker)> {
        let elsewhere = |at| at != speaker.at && self.ports.role(at) == Some(Role::Host);
        let Speaker { mac, ip, .. } = speaker;
        // A host of which no address is known cannot be asked.
        let same = self.topology.host(mac).filter(|host| elsewhere(host.at));
        if let Some((host, known)) = same.and_then(|host| Some((host, *host.addresses.last()?))) {
            return Some((Subject::Mac(mac), Speaker { mac, ip: known, at: host.at }));
        }
        let other = self.topology.host_with_address(ip).filter(|host| host.mac != mac && elsewhere(host.at));
        other.map(|host| (Subject::Ip(ip), Speaker { mac: host.mac, ip, at: host.at }))
    }

    /// A holder that is heard keeps what it holds.
    fn hear(&mut self, now: Time, speaker: Speaker, out: &mut Commands) {
        for subject in [Subject::Mac(speaker.mac), Subject::Ip(speaker.ip)] {
            let Some(claim) = self.claims.0.get_mut(&subject).filter(|claim| !claim.refused) else {
                continue;
            };
            if (claim.holder.mac, claim.holder.at) == (speaker.mac, speaker.at) {
                (claim.refused, claim.until) = (true, now + self.settings.claim_hold);
                let (by, holder) = (claim.by, claim.holder.at);
                self.refuse(now, by.at, subject, holder, out);
                if self.topology.host_with_address(by.ip).is_some_and(|host| host.at == holder) {
                    self.deny(now, by.at, by.ip, holder, out);
                }
            }
        }
    }

    fn refuse(
        &mut self,
        now: Time,
        at: SwitchPort,
        subject: Subject,
        holder: SwitchPort,
        out: &mut Commands,
    ) {
        self.counters.claims_refused += 1;
        let threat = match subject {
            Subject::Mac(mac) => Threat::StolenMac { mac, holder },
            Subject::Ip(ip) => Threat::StolenIp { ip, holder },
        };
        self.admission.raise(&mut context!(self, now, out), at, threat);
    }

    /// Asks the holders again, and believes the claims whose holders did not answer in time; called once a tick.
    pub(super) fn tick_claims(&mut self, now: Time, out: &mut Commands) {
        let claims = std::mem::take(&mut self.claims.0);
        for (subject, claim) in claims {
            let is_there = self.ports.role(claim.holder.at) == Some(Role::Host);
            if is_there && now < claim.until {
                self.claims.0.insert(subject, claim);
            } else if !claim.refused {
                self.believe(now, subject, claim.by, out);
            }
        }
        for claim in self.claims.0.values().filter(|claim| !claim.refused) {
            self.ask_at(claim.holder.at, claim.holder.ip, out);
        }
    }

    fn believe(&mut self, now: Time, subject: Subject, by: Speaker, out: &mut Commands) {
        if self.ports.role(by.at) != Some(Role::Host) {
            return;
        }
        // The IP address may be a third one's: that is another claim.
        let ip = match subject {
            Subject::Mac(_) => None,
            Subject::Ip(ip) => Some(ip),
        };
        if self.learn_at(now, by.mac, ip, by.at, out) && ip.is_none() {
            self.learn(now, by.mac, by.ip, by.at, out);
        }
    }
}
