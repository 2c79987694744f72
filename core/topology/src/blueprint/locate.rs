//! Lookup of switches and hosts by name, with the nearest name for a misspelt one.

use std::collections::BTreeSet;

use strsim::levenshtein;

use super::{Blueprint, Place};

/// The longest name, in characters, for which similar names are searched.
const MAX_TYPED: usize = 64;

/// An unknown name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no switch or host {name:?}{}", hint(.near.as_deref()))]
pub struct UnknownPlace {
    /// The requested name.
    pub name: String,
    /// The most similar name, if any.
    pub near: Option<String>,
}

impl Blueprint {
    /// The switches of a name: a switch by its name or datapath id, or the switches of a host, each once, in the order of its
    /// interfaces. Names take precedence over datapath ids.
    ///
    /// # Errors
    ///
    /// [`UnknownPlace`] with the most similar name.
    pub fn locate(&self, name: &str) -> Result<Vec<usize>, UnknownPlace> {
        match self.by_name.get(name) {
            Some(Place::Host(index)) => Ok(self.switches_of_host(*index)),
            _ => self.switch_called(name).map(|index| vec![index]).ok_or_else(|| self.unknown(name)),
        }
    }

    /// The switch with this name, or with this text as its datapath id if nothing has the name.
    pub fn switch_called(&self, text: &str) -> Option<usize> {
        match self.by_name.get(text) {
            Some(Place::Switch(index)) => Some(*index),
            Some(Place::Host(_)) => None,
            None => text.parse().ok().and_then(|dpid| self.switch(dpid)),
        }
    }

    fn switches_of_host(&self, index: usize) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let switches = self.hosts[index].interfaces.iter().map(|interface| interface.end.switch);
        switches.filter(|switch| seen.insert(*switch)).collect()
    }

    fn unknown(&self, name: &str) -> UnknownPlace {
        UnknownPlace { name: name.to_owned(), near: self.nearest(name).cloned() }
    }

    /// The name that takes the fewest edits, at most a third of what was typed.
    fn nearest(&self, name: &str) -> Option<&String> {
        let wanted = name.to_lowercase();
        let length = wanted.chars().count();
        let limit = (length / 3).max(1);
        let names = self.by_name.keys().filter(|_| length <= MAX_TYPED);
        let near = names.map(|known| (levenshtein(&wanted, &known.to_lowercase()), known));
        near.filter(|(distance, _)| *distance <= limit).min().map(|(_, known)| known)
    }
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}
