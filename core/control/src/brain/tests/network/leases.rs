//! The leases of labels against a count of who uses them.

use std::collections::BTreeMap;

use braid_paths::Path;

use super::Network;
use crate::brain::Brain;
use crate::fabric::LabelOwner;
use crate::label::Label;

impl Network {
    /// Checks that each label is leased as often as it is used, and that each path is kept that is set aside.
    pub(in crate::brain::tests) fn check_leases(&self) {
        assert_eq!(self.brain.fabric.leases(), leases(&self.brain));
        assert_eq!(self.brain.fabric.reserved(), reserved(&self.brain));
    }
}

/// How often each label is used by each kind of owner.
fn leases(brain: &Brain) -> BTreeMap<(Label, LabelOwner), u32> {
    let single = brain.transfers.streams().filter(|stream| brain.spray.stream(stream.id).is_none());
    let paths = single.filter_map(|stream| stream.route.as_ref()).flat_map(|it| [&it.forward, &it.reverse]);
    let mut leases = BTreeMap::new();
    for (owner, labels) in [
        (LabelOwner::Streams, paths.filter_map(|path| brain.fabric.hop(path)).map(|hop| hop.label).collect()),
        (LabelOwner::Routes, brain.routing.labels_of_routes()),
        (LabelOwner::EcmpGroups, brain.routing.labels_of_groups()),
        (LabelOwner::Bundles, brain.spray.labels().collect::<Vec<_>>()),
    ] {
        labels.into_iter().for_each(|label| *leases.entry((label, owner)).or_default() += 1);
    }
    leases
}

/// How often each path is set aside.
fn reserved(brain: &Brain) -> BTreeMap<Path, u32> {
    let mut reserved = BTreeMap::new();
    brain.reservations.reserved().for_each(|path| *reserved.entry(path.clone()).or_default() += 1);
    reserved
}
