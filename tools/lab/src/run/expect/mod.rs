//! Verdicts on a scenario's expectations, from the rows of its report.

#[cfg(test)]
mod more_tests;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;

use super::report::{Bound, Row, Verdict};
use super::settings::{self, Key};
use crate::scenario::{Aggregate, Average, Expectation, Limit, Metric, Mode, Reference, Work};
use value::{jain, value};
#[cfg(test)]
pub(super) use value::{leader_changes, longest_without_leader};

/// Values of the whole run.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    /// The maximum flow from all senders to all receivers, in bits per second.
    pub capacity: f64,
    /// Seconds before the measurement of each transfer.
    pub warm_up: f64,
    /// The fitted parameter; NaN without a fit.
    pub a: f64,
    /// What stands for the runs of a setting.
    pub average: Average,
}

/// Checks whether all settings of `expectation`, or the best one, keep its limit.
pub(super) fn judge(expectation: &Expectation, rows: &[Row], whole: Whole) -> Verdict {
    let Expectation { mode, variant, from, relative_to, .. } = expectation;
    let values = values(expectation.value, rows, whole);
    let about = values.iter().filter(|(key, _)| mode.is_none_or(|mode| mode == key.mode));
    let about = about.filter(|(key, _)| is_about(expectation, key.work));
    let about = about.filter(|(key, _)| variant.is_none() || key.variant == variant.as_deref());
    let sends = |key: &Key<'_>| key.direction.map(|direction| direction.from.as_str()) == from.as_deref();
    let about = about.filter(|(key, _)| from.is_none() || sends(key));
    // A setting that has nothing to be compared with fails.
    let over = |value: f64, base: Option<f64>| base.map_or(f64::NAN, |base| value / base);
    let compared = about.map(|(key, value)| match relative_to {
        Some(reference) => (key, over(*value, counterpart(key, reference, &values))),
        None => (key, *value),
    });
    let (bound, limit) = match expectation.limit {
        Limit::AtLeast(limit) => (Bound::AtLeast, limit),
        Limit::AtMost(limit) => (Bound::AtMost, limit),
    };
    let wants_least = matches!(expectation.limit, Limit::AtLeast(_)) == (expectation.of == Aggregate::Worst);
    let decides: fn(f64, f64) -> f64 = if wants_least { f64::min } else { f64::max };
    // The scenario's check ensures that a row matches.
    let value = match expectation.profiles {
        Some(count) => of_profiles(count, compared, decides),
        None => compared.map(|it| it.1).reduce(|a, b| worse(a, b, decides)).unwrap_or(0.0),
    };
    let (name, needs_quiet_machine) = (expectation.name.clone(), expectation.needs_quiet_machine);
    Verdict { name, value, bound, limit, ok: expectation.limit.holds(value), needs_quiet_machine }
}

/// Whether a tool and a length match the expectation.
fn is_about(expectation: &Expectation, work: Option<Work>) -> bool {
    let Some(Work { tool, bytes }) = work else { return true };
    expectation.tool.is_none_or(|it| it == tool) && expectation.bytes.is_none_or(|it| it == bytes)
}

/// The value that `count` profiles keep at least, with the congestion control with which that is worst; NaN if fewer have a
/// value. `decides` gives the worse of two.
fn of_profiles<'a>(
    count: usize,
    values: impl Iterator<Item = (&'a Key<'a>, f64)>,
    decides: fn(f64, f64) -> f64,
) -> f64 {
    let mut controls: BTreeMap<_, BTreeMap<_, f64>> = BTreeMap::new();
    for (key, value) in values {
        let profile = controls.entry(key.congestion_control).or_default().entry(key.profile);
        profile.and_modify(|all| *all = worse(*all, value, decides)).or_insert(value);
    }
    let kept_by_enough = |profiles: BTreeMap<_, f64>| {
        let mut values: Vec<_> = profiles.into_values().filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        if decides(0.0, 1.0) < 1.0 {
            values.reverse();
        }
        values.get(count.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    };
    let all = controls.into_values().map(kept_by_enough);
    all.reduce(|a, b| worse(a, b, decides)).unwrap_or(f64::NAN)
}

fn worse(a: f64, b: f64, of: impl Fn(f64, f64) -> f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { of(a, b) }
}

/// The average of all runs of each setting, or each run for values that must hold in every run.
fn values(metric: Metric, rows: &[Row], whole: Whole) -> Vec<(Key<'_>, f64)> {
    match metric {
        Metric::PeakStreams => peaks(rows, whole),
        Metric::StreamsA => settings::together(rows).into_keys().take(1).map(|key| (key, whole.a)).collect(),
        Metric::Fairness => at_once(rows, jain),
        Metric::SumFractionOfCapacity => {
            at_once(rows, |rates| rates.iter().sum::<f64>() / whole.capacity.max(1.0))
        }
        Metric::MeanFractionOfCapacity => of_groups(metric, settings::together(rows), whole),
        Metric::Subflows => {
            let mut groups = settings::by_direction(rows);
            groups.values_mut().for_each(|rows| rows.retain(|row| !is_local(row)));
            groups.retain(|_, rows| !rows.is_empty());
            of_groups(metric, groups, whole)
        }
        _ => of_groups(metric, settings::by_direction(rows), whole),
    }
}

/// Whether both hosts are at one switch: then there are no paths for subflows to take.
fn is_local(row: &Row) -> bool {
    !row.streams.is_empty() && row.streams.iter().all(|stream| stream.path.is_empty())
}

fn of_groups<'a>(
    metric: Metric,
    groups: BTreeMap<Key<'a>, Vec<&'a Row>>,
    whole: Whole,
) -> Vec<(Key<'a>, f64)> {
    groups.into_iter().flat_map(|(key, rows)| of_group(metric, &key, &rows, whole)).collect()
}

/// The mean over all runs of a value of all directions' goodputs.
fn at_once(rows: &[Row], of: impl Fn(&[f64]) -> f64) -> Vec<(Key<'_>, f64)> {
    let value = |rows: Vec<&Row>| {
        let mut runs: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        rows.iter().for_each(|row| runs.entry(row.run).or_default().push(row.goodput_bps));
        runs.values().map(|rates| of(rates)).sum::<f64>() / runs.len().max(1) as f64
    };
    settings::together(rows).into_iter().map(|(key, rows)| (key, value(rows))).collect()
}

/// The share of the highest goodput that counts as the peak.
const NEAR_PEAK_SHARE: f64 = 0.98;

/// The fewest streams with peak goodput, for each variant, mode and direction.
fn peaks(rows: &[Row], whole: Whole) -> Vec<(Key<'_>, f64)> {
    let mut curves: BTreeMap<Key<'_>, Vec<(u16, f64)>> = BTreeMap::new();
    for (key, goodput) in of_groups(Metric::GoodputBps, settings::by_direction(rows), whole) {
        curves.entry(key.of_any_number()).or_default().push((key.connections, goodput));
    }
    let peak = |curve: Vec<(u16, f64)>| {
        let most = curve.iter().map(|it| it.1).fold(0.0, f64::max);
        let near = curve.iter().filter(|it| it.1 >= most * NEAR_PEAK_SHARE).map(|it| it.0).min();
        f64::from(near.unwrap_or_default())
    };
    curves.into_iter().map(|(key, curve)| (key, peak(curve))).collect()
}

fn of_group<'a>(metric: Metric, key: &Key<'a>, rows: &[&Row], whole: Whole) -> Vec<(Key<'a>, f64)> {
    let all = rows.iter().map(|row| value(metric, row, whole));
    if metric.is_of_every_run() {
        return all.map(|value| (key.clone(), value)).collect();
    }
    vec![(key.clone(), whole.average.of(all))]
}

/// The value of the setting that `key` is compared with.
fn counterpart(key: &Key<'_>, reference: &Reference, values: &[(Key<'_>, f64)]) -> Option<f64> {
    match reference {
        Reference::Variant(variant) => in_variant(key, variant, values),
        Reference::BestOf(variants) => best_of_variants(key, variants, values),
        Reference::BestKnown(known) => {
            known.value(key.profile, |variants| best_of_variants(key, variants, values))
        }
        Reference::SumOf(variants) => in_variants(key, variants, values).map(|all| all.iter().sum()),
        Reference::Mode(mode) => in_mode(key, *mode, values),
        Reference::Sender(host) => from_sender(key, host, values),
    }
}

/// The greatest value of several variants; none if one is missing.
fn best_of_variants(key: &Key<'_>, variants: &[String], values: &[(Key<'_>, f64)]) -> Option<f64> {
    in_variants(key, variants, values).map(|all| all.into_iter().fold(0.0, f64::max))
}

/// The values of several variants; none if one is missing.
fn in_variants(key: &Key<'_>, variants: &[String], values: &[(Key<'_>, f64)]) -> Option<Vec<f64>> {
    variants.iter().map(|variant| in_variant(key, variant, values)).collect()
}

/// The value of another variant for the same transfer, in the same mode if it has it.
fn in_variant(key: &Key<'_>, variant: &str, values: &[(Key<'_>, f64)]) -> Option<f64> {
    let same = values.iter().filter(|(other, _)| {
        other.variant == Some(variant)
            && other.is_on_lines_of(key)
            && other.direction == key.direction
            && other.connections == key.connections
            && other.work == key.work
    });
    let in_mode = same.clone().find(|(other, _)| other.mode == key.mode);
    in_mode.or_else(|| same.clone().next()).map(|(_, value)| *value)
}

/// The value of the same setting in another mode.
fn in_mode(key: &Key<'_>, mode: Mode, values: &[(Key<'_>, f64)]) -> Option<f64> {
    let wanted = key.in_mode(mode);
    values.iter().find(|(other, _)| *other == wanted).map(|(_, value)| *value)
}

/// The value of the direction in which `host` sends, in the same setting.
fn from_sender(key: &Key<'_>, host: &str, values: &[(Key<'_>, f64)]) -> Option<f64> {
    let sends = |other: &Key<'_>| other.direction.is_some_and(|direction| direction.from == host);
    let found = values.iter().find(|(other, _)| sends(other) && key.differs_by_direction(other));
    found.map(|(_, value)| *value)
}
