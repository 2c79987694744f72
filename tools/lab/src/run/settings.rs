//! Rows of a report grouped by their settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::report::{Row, RowDirection, lab_title};
use crate::scenario::{Mode, Work};

/// The settings that the runs of one measurement share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key<'a> {
    /// The index of the lab's first row, which keeps labs in order.
    order: usize,
    pub profile: Option<&'a str>,
    pub congestion_control: Option<&'a str>,
    pub variant: Option<&'a str>,
    pub mode: Mode,
    pub work: Option<Work>,
    pub connections: u16,
    /// `None` stands for all directions.
    pub direction: Option<&'a RowDirection>,
}

impl Key<'_> {
    /// The lab: its variant, profile and congestion control, as far as there are several.
    pub(super) fn lab(&self) -> String {
        lab_title([self.variant, self.profile, self.congestion_control])
    }

    /// The mode, with the tool and length if several are compared.
    pub(super) fn what(&self) -> String {
        let work = self.work.map(|work| format!(" {work}")).unwrap_or_default();
        format!("{}{work}", self.mode)
    }

    /// The same setting in another mode.
    pub(super) fn in_mode(&self, mode: Mode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// Whether `other` has the same profile and congestion control.
    pub(super) fn is_on_lines_of(&self, other: &Self) -> bool {
        (self.profile, self.congestion_control) == (other.profile, other.congestion_control)
    }

    /// Whether `other` differs in its direction at most.
    pub(super) fn differs_by_direction(&self, other: &Self) -> bool {
        Self { direction: self.direction, ..other.clone() } == *self
    }

    /// The setting without the number of streams.
    pub(super) fn of_any_number(&self) -> Self {
        Self { connections: 0, ..self.clone() }
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.lab().is_empty() {
            write!(f, "{}, ", self.lab())?;
        }
        f.write_str(&self.what())?;
        if let Some(direction) = self.direction {
            write!(f, ", {} > {}", direction.from, direction.to)?;
        }
        match self.connections {
            0 | 1 => Ok(()),
            streams => write!(f, ", {streams} streams"),
        }
    }
}

/// The rows of every setting, each direction separately.
pub(super) fn by_direction(rows: &[Row]) -> BTreeMap<Key<'_>, Vec<&Row>> {
    group(rows, |row| Some(&row.direction))
}

/// The rows of every setting, all directions together.
pub(super) fn together(rows: &[Row]) -> BTreeMap<Key<'_>, Vec<&Row>> {
    group(rows, |_| None)
}

/// The row whose settings stand for those of `row`: the first of a variant whose directions differ.
fn standing_for<'a>(rows: &'a [Row], row: &'a Row) -> &'a Row {
    rows.iter().find(|other| other.is_mixed && other.variant == row.variant).unwrap_or(row)
}

/// The rows of every setting, with all directions in one if there are many.
pub(super) fn for_people(rows: &[Row]) -> Vec<(Key<'_>, Vec<&Row>)> {
    let directions: BTreeSet<_> = rows.iter().map(|row| &row.direction).collect();
    let groups = if directions.len() > MAX_SEPARATE_DIRECTIONS { together(rows) } else { by_direction(rows) };
    groups.into_iter().collect()
}

/// Directions shown separately in a table or plot.
const MAX_SEPARATE_DIRECTIONS: usize = 8;

fn group<'a>(
    rows: &'a [Row],
    direction: impl Fn(&'a Row) -> Option<&'a RowDirection>,
) -> BTreeMap<Key<'a>, Vec<&'a Row>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows {
        let lab =
            |row: &'a Row| [&row.variant, &row.profile, &row.congestion_control].map(|part| part.as_deref());
        let [variant, profile, congestion_control] = lab(row);
        let order = rows.iter().position(|other| lab(other) == lab(row)).unwrap_or(0);
        let direction = direction(row);
        let Row { mode, work, connections, .. } =
            *if direction.is_none() { standing_for(rows, row) } else { row };
        let key = Key { order, profile, congestion_control, variant, mode, work, connections, direction };
        groups.entry(key).or_default().push(row);
    }
    groups
}

/// The size of the largest set of paths that share no link.
pub(super) fn disjoint_paths(row: &Row) -> usize {
    let streams = row.streams.iter().filter(|it| !it.path.is_empty());
    let paths: BTreeSet<_> = streams.map(|it| (it.path.as_slice(), it.devices.as_slice())).collect();
    let paths: Vec<_> = paths.into_iter().take(MAX_TRIED_PATHS).map(hops).collect();
    most_disjoint(&paths, &BTreeSet::new())
}

/// Paths whose subsets are all tried.
const MAX_TRIED_PATHS: usize = 16;

/// The links of a path: the switches at both ends, and the interface of the first, which distinguishes parallel links.
type Hops<'a> = BTreeSet<(&'a str, &'a str, &'a str)>;

fn hops<'a>((path, devices): (&'a [String], &'a [String])) -> Hops<'a> {
    let devices = devices.iter().map(String::as_str).chain(std::iter::repeat(""));
    let switches = path.iter().zip(path.iter().skip(1));
    switches.zip(devices).map(|((from, to), device)| (from.as_str(), to.as_str(), device)).collect()
}

fn most_disjoint<'a>(paths: &[Hops<'a>], used: &Hops<'a>) -> usize {
    let Some((first, rest)) = paths.split_first() else { return 0 };
    let without = most_disjoint(rest, used);
    if !first.is_disjoint(used) {
        return without;
    }
    let used = used.union(first).copied().collect();
    without.max(1 + most_disjoint(rest, &used))
}
