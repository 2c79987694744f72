//! Unique and tidy names for the labels of an imported network.

use std::collections::{BTreeMap, BTreeSet};

use crate::blueprint::MAX_NAME;

/// A generator of unique names for labels.
pub(super) struct Names {
    labels: BTreeSet<String>,
    used: BTreeSet<String>,
    last: BTreeMap<String, usize>,
}

impl Names {
    /// A generator for these labels, which may have duplicates.
    pub(super) fn new<'a>(labels: impl Iterator<Item = &'a str>) -> Self {
        let labels = labels.map(str::to_owned).collect();
        Self { labels, used: BTreeSet::new(), last: BTreeMap::new() }
    }

    /// The label itself the first time, then `label-2`, `label-3`, … unless these are labels as well.
    pub(super) fn unique(&mut self, label: &str) -> String {
        if self.used.insert(label.to_owned()) {
            return label.to_owned();
        }
        let last = self.last.entry(label.to_owned()).or_insert(1);
        loop {
            *last += 1;
            let name = format!("{label}-{last}");
            if !self.labels.contains(&name) && self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// A label on one line with single spaces, shortened to a name; `None` if it is empty.
pub(super) fn tidy(label: &str) -> Option<String> {
    // Longer text would not fit, unless it is all spaces.
    let start = &label[..label.floor_char_boundary(8 * MAX_NAME)];
    let spaced: String = start.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let mut tidy = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    // Room for the number that makes it unique.
    tidy.truncate(tidy.floor_char_boundary(MAX_NAME - 10));
    tidy.shrink_to_fit();
    (!tidy.is_empty()).then_some(tidy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ones_of_the_same_label_are_numbered_past_other_labels() {
        let labels = ["x", "x", "x-2", "x", "y", "x-2"];
        let mut names = Names::new(labels.into_iter());
        assert_eq!(labels.map(|label| names.unique(label)), ["x", "x-3", "x-2", "x-4", "y", "x-2-2"]);
    }

    #[test]
    fn labels_become_one_short_line() {
        assert_eq!(tidy(" New\n  York\u{7}City ").as_deref(), Some("New York City"));
        assert_eq!(tidy(" \t"), None);
        assert_eq!(tidy(&"ü".repeat(200)).unwrap().len(), 244);
    }
}
