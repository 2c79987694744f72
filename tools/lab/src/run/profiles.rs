//! What was measured with each profile of the lines, beside what others have published of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::expect::{self, Whole};
use super::report::{Row, Verdict};
use super::settings::{self, Key};
use crate::plot::Marked;
use crate::scenario::{Expectation, Reference, Scenario};

/// What was measured with one profile and one congestion control.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileRow {
    /// The name of the profile.
    pub profile: String,
    /// The congestion control, if the scenario compares several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// The number of runs.
    pub runs: u16,
    /// The average of each variant, and mode if it has several.
    pub goodputs: Vec<Goodput>,
    /// The expectations that are about ratios, of this profile alone.
    pub ratios: Vec<Ratio>,
    /// What others have published of it, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, f64>,
}

/// The average of a variant's runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Goodput {
    /// The variant, and the mode if it has several.
    pub name: String,
    /// At the receiver, in bits per second.
    pub bps: f64,
}

/// A ratio that has a limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ratio {
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The variant whose value was divided, if the expectation names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What the ratio was divided by, in bits per second, if it is one of goodputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_bps: Option<f64>,
}

/// The names of all columns in the order in which they come: any profile may lack some.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileColumns {
    /// Of goodputs.
    pub goodputs: Vec<String>,
    /// Of ratios.
    pub ratios: Vec<String>,
    /// Of what others have published.
    pub published: Vec<String>,
}

impl ProfileColumns {
    /// Those of all rows.
    pub fn of(rows: &[ProfileRow]) -> Self {
        Self {
            goodputs: distinct(rows, |row| row.goodputs.iter().map(|it| it.name.clone()).collect()),
            ratios: distinct(rows, |row| row.ratios.iter().map(|it| it.verdict.name.clone()).collect()),
            published: distinct(rows, |row| row.published.keys().cloned().collect()),
        }
    }
}

/// A row for each profile and congestion control of the scenario, in order.
pub(super) fn of(scenario: &Scenario, rows: &[Row], whole: Whole) -> Vec<ProfileRow> {
    // The profiles are the outermost loop of a run, and the congestion controls the next.
    let lines = |row: &Row| (row.profile.clone(), row.congestion_control.clone());
    rows.chunk_by(|a, b| lines(a) == lines(b)).filter_map(|rows| profile(scenario, rows, whole)).collect()
}

fn profile(scenario: &Scenario, rows: &[Row], whole: Whole) -> Option<ProfileRow> {
    let name = rows.first()?.profile.clone()?;
    let known = scenario.profiles.iter().find(|it| it.name == name);
    let goodputs = goodputs(rows, whole);
    let compared = scenario.expect.iter().filter(|it| it.relative_to.is_some() && it.profiles.is_none());
    Some(ProfileRow {
        congestion_control: rows.first()?.congestion_control.clone(),
        runs: rows.iter().filter_map(|row| row.run).max().unwrap_or(1),
        ratios: compared.map(|it| ratio(it, &name, rows, whole, &goodputs)).collect(),
        goodputs,
        published: known.map(|it| it.published.clone()).unwrap_or_default(),
        profile: name,
    })
}

fn goodputs(rows: &[Row], whole: Whole) -> Vec<Goodput> {
    let groups = settings::together(rows);
    let variants: Vec<_> = groups.keys().map(|key| key.variant).collect();
    let goodput = |(key, rows): (&Key<'_>, &Vec<&Row>)| {
        let is_one_of_several = variants.iter().filter(|it| **it == key.variant).count() > 1;
        let name = match key.variant {
            Some(variant) if is_one_of_several => format!("{variant}, {}", key.what()),
            Some(variant) => variant.to_owned(),
            None => key.what(),
        };
        Goodput { name, bps: whole.average.of(rows.iter().map(|row| row.goodput_bps)) }
    };
    groups.iter().map(goodput).collect()
}

fn ratio(
    expectation: &Expectation,
    profile: &str,
    rows: &[Row],
    whole: Whole,
    goodputs: &[Goodput],
) -> Ratio {
    let base_bps = expectation.relative_to.as_ref().and_then(|it| base(it, profile, goodputs));
    Ratio { verdict: expect::judge(expectation, rows, whole), variant: expectation.variant.clone(), base_bps }
}

/// What goodputs are divided by, if it is one of goodputs.
fn base(reference: &Reference, profile: &str, goodputs: &[Goodput]) -> Option<f64> {
    let of = |name: &String| goodputs.iter().find(|it| it.name == *name).map(|it| it.bps);
    let all = |names: &[String]| names.iter().map(of).collect::<Option<Vec<_>>>();
    let best = |names: &[String]| all(names).map(|all| all.into_iter().fold(0.0, f64::max));
    match reference {
        Reference::Variant(name) => of(name),
        Reference::BestOf(names) => best(names),
        Reference::BestKnown(known) => known.value(Some(profile), best),
        Reference::SumOf(names) => all(names).map(|all| all.iter().sum()),
        Reference::Mode(_) | Reference::Sender(_) => None,
    }
}

impl ProfileRow {
    /// Its profile and congestion control.
    pub(super) fn title(&self) -> String {
        let control = self.congestion_control.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        format!("{}{control}", self.profile)
    }
}

/// The names of the marks of a plot, and its bars: the first ratio of each profile, with marks for the other variants by the same
/// base, and for what is published.
pub(super) fn marked(rows: &[ProfileRow]) -> (Vec<String>, Vec<Marked>) {
    // The bar is the value of this variant.
    let bar = rows.iter().flat_map(|row| row.ratios.first()).find_map(|ratio| ratio.variant.as_ref());
    let mut distinct = distinct(rows, |row| {
        row.goodputs.iter().map(|it| it.name.clone()).chain(row.published.keys().cloned()).collect()
    });
    distinct.retain(|name| Some(name) != bar);
    let bars = rows.iter().filter_map(|row| {
        let ratio = row.ratios.first()?;
        let base = ratio.base_bps?;
        let measured =
            |name: &String| row.goodputs.iter().find(|it| it.name == *name).map(|it| it.bps / base);
        let mark = |name: &String| measured(name).or_else(|| row.published.get(name).copied());
        Some(Marked {
            name: row.title(),
            value: ratio.verdict.value,
            marks: distinct.iter().map(mark).collect(),
        })
    });
    let bars = bars.collect();
    (distinct, bars)
}

/// All names in the order in which they come.
fn distinct(rows: &[ProfileRow], of: impl Fn(&ProfileRow) -> Vec<String>) -> Vec<String> {
    let mut all = Vec::new();
    for name in rows.iter().flat_map(of) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
