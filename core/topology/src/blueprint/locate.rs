//! Lookup of switches and hosts by name, with the nearest name for a misspelt one.

use std::collections::BTreeSet;
use std::mem;

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

    fn nearest(&self, name: &str) -> Option<&String> {
        let wanted: Vec<_> = name.chars().flat_map(char::to_lowercase).take(MAX_TYPED + 1).collect();
        let limit = (wanted.len() / 3).max(1);
        let names = self.by_name.keys().filter(|_| wanted.len() <= MAX_TYPED);
        names
            .filter_map(|known| Some((distance(&wanted, known, limit)?, known)))
            .min()
            .map(|(_, known)| known)
    }
}

/// The edit distance, if it is at most `limit`. Levenshtein (1966).
fn distance(wanted: &[char], known: &str, limit: usize) -> Option<usize> {
    let known: Vec<_> = known.chars().flat_map(char::to_lowercase).collect();
    if wanted.len().abs_diff(known.len()) > limit {
        return None;
    }
    let mut row: Vec<_> = (0..=known.len()).collect();
    for (done, a) in wanted.iter().enumerate() {
        let mut diagonal = done;
        let mut left = done + 1;
        row[0] = left;
        for (b, above) in known.iter().zip(&mut row[1..]) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = mem::replace(above, replaced.min(left + 1).min(*above + 1));
            left = *above;
        }
    }
    row.last().copied().filter(|distance| *distance <= limit)
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits_up_to_the_limit() {
        let between = |a: &str, b, limit| distance(&a.chars().collect::<Vec<_>>(), b, limit);
        assert_eq!(between("kitten", "sitting", 3), Some(3));
        assert_eq!(between("kitten", "sitting", 2), None);
        assert_eq!(between("", "ab", 2), Some(2));
        assert_eq!(between("syd", "SYD", 0), Some(0));
    }
}
