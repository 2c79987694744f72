//! The leader's part: which switches it wants, and connections that are for one.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use braid_cluster::MemberId;
use braid_types::DatapathId;
use tokio::sync::mpsc::Sender;
use tracing::debug;

use super::wire::{MAX_LINE, MAX_OWNERS, MAX_WANTED, Offer, Switch, Wanted};
use crate::channels::{self, Relayed};
use crate::cluster::peers::Lines;
use crate::engine::SharedPresence;
use crate::openflow_tls::{OpenFlowTls, Owner};

/// A standby that says nothing for this long offers nothing.
const SILENCE: Duration = Duration::from_secs(5);
/// Switches that one standby offers, at most: as many as may join.
const MAX_OFFERED: usize = 16_384;

/// What a leader takes from its standbys.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct Admission {
    leads: Arc<AtomicBool>,
    presence: SharedPresence,
    channels: Sender<channels::Incoming>,
    tls: Option<OpenFlowTls>,
}

impl Admission {
    pub(super) const fn new(
        leads: Arc<AtomicBool>,
        presence: SharedPresence,
        channels: Sender<channels::Incoming>,
        tls: Option<OpenFlowTls>,
    ) -> Self {
        Self { leads, presence, channels, tls }
    }

    /// Why nobody is a front of this member, if that is so.
    pub(in crate::cluster) fn refusal(&self) -> Option<String> {
        (!self.leads()).then(|| "it does not lead".to_owned())
    }

    fn leads(&self) -> bool {
        self.leads.load(Ordering::Relaxed)
    }

    /// Answers what a standby offers, as long as this member leads.
    pub(in crate::cluster) fn serve(&self, member: &MemberId, mut lines: Lines) -> io::Result<()> {
        lines.set_max_line(MAX_LINE);
        let (mut offered, mut told) = (BTreeSet::new(), BTreeSet::new());
        debug!(%member, "a standby may become a front");
        while self.leads() {
            let Offer { more, fewer } = serde_json::from_value(lines.next(SILENCE)?)?;
            fewer.iter().for_each(|dpid| _ = offered.remove(dpid));
            offered.extend(more);
            if offered.len() > MAX_OFFERED {
                return Err(io::Error::other("it offers too many switches"));
            }
            let owners = self.owners_beside(&told);
            lines.write(&Wanted { wanted: self.wanted(&offered), owners: owners.clone() }, SILENCE)?;
            told.extend(owners);
        }
        Ok(())
    }

    fn wanted(&self, offered: &BTreeSet<DatapathId>) -> Vec<DatapathId> {
        let presence = self.presence.lock().unwrap_or_else(PoisonError::into_inner);
        offered.iter().copied().filter(|dpid| presence.lacks(*dpid)).take(MAX_WANTED).collect()
    }

    /// Whose datapath ids are, but for what a standby has been told.
    fn owners_beside(&self, told: &BTreeSet<Owner>) -> Vec<Owner> {
        let owners = self.tls.as_ref().map(OpenFlowTls::owners).unwrap_or_default();
        owners.difference(told).take(MAX_OWNERS).cloned().collect()
    }

    /// Takes a connection for a switch. Whether the switch is served is seen by whether OpenFlow is spoken on it.
    pub(in crate::cluster) fn take(
        &self,
        member: &MemberId,
        Switch { dpid, address, certificate }: Switch,
        lines: Lines,
    ) -> io::Result<()> {
        let (transport, unread) = lines.into_parts();
        if !unread.is_empty() {
            return Err(io::Error::other("it speaks before it is greeted"));
        }
        let relayed = Relayed { dpid, address, via: member.clone(), certificate };
        let incoming = channels::Incoming::Relayed { transport, relayed };
        self.channels.blocking_send(incoming).map_err(|_| io::Error::other("this controller stops"))
    }
}
