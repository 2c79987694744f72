//! Switches that were connected for long, for which places are kept.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use braid_types::{DatapathId, Time};

use crate::peer_limit::prefix;

/// A switch that was connected for so long is known from then on.
const KNOWN_AFTER: Duration = Duration::from_secs(60);
/// Known switches. Beyond them, the one that left first is forgotten.
const MAX_KNOWN: usize = 4_096;

/// Switches that have left, by datapath id and network, and when they did.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<(DatapathId, IpAddr), Time>);

impl Known {
    pub(super) fn has(&self, dpid: DatapathId, address: IpAddr) -> bool {
        self.0.contains_key(&(dpid, prefix(address)))
    }

    /// A switch that joined at `since` has left.
    pub(super) fn note(&mut self, now: Time, since: Time, dpid: DatapathId, address: IpAddr) {
        let key = (dpid, prefix(address));
        if now.since(since) < KNOWN_AFTER && !self.0.contains_key(&key) {
            return;
        }
        if self.0.len() >= MAX_KNOWN && !self.0.contains_key(&key) {
            let first = self.0.iter().min_by_key(|(_, left_at)| **left_at).map(|(key, _)| *key);
            first.map(|key| self.0.remove(&key));
        }
        self.0.insert(key, now);
    }
}
