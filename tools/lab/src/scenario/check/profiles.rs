//! Checks of profiles: unique names, and properties of each line.

use braid_link_model::Parameters;

use super::super::file::{self, File};
use super::super::problem::Problems;
use super::super::{Profile, Topology};
use super::directions;
use super::names::Unique;

/// Checks the profiles of the lines.
pub(super) fn check(file: &File, topology: &Topology, problems: &mut Problems) -> Vec<Profile> {
    let mut names = Unique::new("the names of profiles");
    let all = file.profiles.iter().enumerate();
    let checked = all.map(|(index, profile)| {
        let key = format!("profiles[{index}]");
        let name = &profile.name;
        names.add(&name.value, name.referenced, &format!("{key}.name"), problems);
        let published = profile.published.clone();
        Profile { name: name.value.clone(), lines: lines(profile, &key, topology, problems), published }
    });
    checked.collect()
}

fn lines(
    profile: &file::Profile,
    key: &str,
    topology: &Topology,
    problems: &mut Problems,
) -> Vec<[Parameters; 2]> {
    let at = profile.lines.referenced;
    let all = topology.sites.as_ref().map(|sites| sites.lines.as_slice()).unwrap_or_default();
    if all.len() != profile.lines.value.len() {
        let what = format!("there are {} lines between sites, not {}", all.len(), profile.lines.value.len());
        problems.add(
            at,
            format!("{key}.lines"),
            what,
            "give the properties of each, in the order of topology.links",
        );
    }
    let given = profile.lines.value.iter().zip(all).enumerate();
    let checked = given.map(|(index, (given, link))| {
        let base = topology.links[*link].directions;
        directions::changed(given, base, at, &format!("{key}.lines[{index}]"), problems)
    });
    checked.collect()
}
