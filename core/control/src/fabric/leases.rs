//! Leases: the labels that streams use, so that unused labels are known without a scan.

use braid_steering::StreamId;
use braid_types::Numbered;

use super::Fabric;
use super::labels::Labels;
use super::retirement::LabelState;
use crate::label::Label;

/// The labels of the two directions of a stream.
pub(crate) type Lease = [Option<Label>; 2];

/// The lease of each stream.
#[derive(Debug, Default)]
pub(super) struct Leases(Numbered<StreamId, Lease>);

impl Fabric {
    /// Replaces the lease of a stream.
    pub(crate) fn set_lease(&mut self, id: StreamId, lease: Lease) {
        let before = match lease {
            [None, None] => self.leases.0.remove(id),
            _ => self.leases.0.insert(id, lease),
        };
        for label in lease.into_iter().flatten() {
            self.labels.retain(label);
        }
        for label in before.into_iter().flatten().flatten() {
            self.labels.release(label);
        }
    }
}

#[cfg(test)]
impl Fabric {
    /// The number of streams that use each label.
    #[expect(clippy::disallowed_methods, reason = "collected into a sorted map")]
    pub(crate) fn leases(&self) -> std::collections::BTreeMap<Label, u32> {
        let used = self.labels.entries.iter().filter(|(_, entry)| entry.leases > 0);
        used.map(|(label, entry)| (*label, entry.leases)).collect()
    }
}

impl Labels {
    fn retain(&mut self, label: Label) {
        let Some(entry) = self.entries.get_mut(&label) else { return };
        entry.leases += 1;
        if matches!(entry.life, LabelState::Unused(_)) {
            self.set_life(label, LabelState::Used);
        }
    }

    /// A label that was removed has no lease to release.
    fn release(&mut self, label: Label) {
        let Some(entry) = self.entries.get_mut(&label) else { return };
        entry.leases = entry.leases.saturating_sub(1);
        if entry.leases == 0 {
            self.idle.insert(label);
        }
    }
}
