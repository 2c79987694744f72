//! Transfer studies read from YAML and checked.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use braid_link_model::{Delay, QueueLimit};
use braid_topology::generate::Spec;
use braid_types::{BitsPerSec, plain_words};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de};

use super::expectation::Expect;
use super::{Cell, Study};
use crate::Control;
use crate::experiment::{Experiment, Failures};
use crate::steering::Scheme;
use crate::traffic::{Listed, Pattern};

/// Why a file is no study.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StudyError {
    /// It is not there, or cannot be read.
    #[error("{file}: cannot be read: {why}")]
    Unreadable {
        /// Its name.
        file: String,
        /// What the system says.
        why: String,
    },
    /// It is not YAML, or a value makes no sense.
    #[error("{file}:{line}:{column}: {what}; docs/simulator.md describes the keys")]
    Malformed {
        /// Its name.
        file: String,
        /// From 1.
        line: u64,
        /// From 1.
        column: u64,
        /// What is wrong.
        what: String,
    },
    /// Its parts do not fit together.
    #[error("{file}: {what}")]
    Inconsistent {
        /// Its name.
        file: String,
        /// What is wrong, and what would do.
        what: String,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TransferStudy")]
struct File {
    /// The study's name
    simulation: String,
    #[serde(rename = "kind")]
    #[schemars(extend("enum" = ["transfers"]))]
    _kind: Option<String>,
    /// What it shows, for people
    #[serde(default)]
    description: String,
    #[serde(deserialize_with = "text")]
    network: Spec,
    rate: BitsPerSec,
    #[serde(default)]
    delay: Delay,
    #[serde(default)]
    queue: QueueLimit,
    #[serde(deserialize_with = "text")]
    control: Control,
    #[serde(default)]
    set_up: Delay,
    failures: Option<Broken>,
    #[serde(default)]
    warm_up: Delay,
    measured: Delay,
    #[serde(default = "ten")]
    seeds: u64,
    subflows: Vec<usize>,
    /// By name, the sender and receiver of each transfer, by number.
    #[serde(default)]
    traffic: BTreeMap<String, Vec<(usize, usize)>>,
    methods: Vec<Method>,
    #[serde(default)]
    expect: Vec<Expect>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Method {
    name: String,
    #[serde(deserialize_with = "text")]
    scheme: Scheme,
    /// Instead of those of the file.
    #[serde(default, deserialize_with = "some_text")]
    network: Option<Spec>,
    subflows: Option<Vec<usize>>,
    /// By pattern, what a paper reports for each number of subflows, in percent; or nothing.
    #[serde(rename = "paper")]
    patterns: BTreeMap<String, Vec<f64>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Broken {
    at: Delay,
    links: usize,
    repair: Delay,
}

const fn ten() -> u64 {
    10
}

pub(crate) fn text<'de, D: Deserializer<'de>, T: FromStr<Err: std::fmt::Display>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

fn some_text<'de, D: Deserializer<'de>, T: FromStr<Err: std::fmt::Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    text(deserializer).map(Some)
}

/// The JSON schema of such a file.
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<File>()
}

impl Study {
    /// Reads a text; `file` is what errors call it.
    ///
    /// # Errors
    ///
    /// [`StudyError`], with the line and column where there is one.
    pub fn parse(text: &str, file: &str) -> Result<Self, StudyError> {
        let parsed: File = serde_saphyr::from_str(text).map_err(|error| malformed(file, &error))?;
        parsed.check().map_err(|what| StudyError::Inconsistent { file: file.to_owned(), what })
    }
}

pub(crate) fn malformed(file: &str, error: &serde_saphyr::Error) -> StudyError {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let text = error.without_snippet().to_string();
    let first = text.lines().next().unwrap_or(&text);
    let cut = [" at line ", " (line "].iter().filter_map(|it| first.find(it)).min().unwrap_or(first.len());
    let what = plain_words(first[..cut].trim_end_matches(':'));
    StudyError::Malformed { file: file.to_owned(), line, column, what }
}

impl Broken {
    const fn failures(&self) -> Failures {
        Failures { at: self.at.duration(), links: self.links, repair: self.repair.duration() }
    }
}

impl File {
    fn check(self) -> Result<Study, String> {
        if self.seeds == 0 || self.subflows.is_empty() || self.methods.is_empty() {
            return Err(
                "nothing is compared; give seeds, subflows and methods, one at least of each".to_owned()
            );
        }
        let mut cells = Vec::new();
        for method in &self.methods {
            for (pattern, paper) in &method.patterns {
                self.add(method, &self.pattern(pattern)?, paper, &mut cells)?;
            }
        }
        let expect = self.expect.into_iter().map(|expect| expect.check(&cells)).collect::<Result<_, _>>()?;
        Ok(Study { name: self.simulation, description: self.description, seeds: self.seeds, cells, expect })
    }

    fn add(
        &self,
        method: &Method,
        pattern: &Pattern,
        paper: &[f64],
        cells: &mut Vec<Cell>,
    ) -> Result<(), String> {
        let all = method.subflows.as_ref().unwrap_or(&self.subflows);
        let (name, given, wanted) = (&method.name, paper.len(), all.len());
        if given > 0 && given != wanted {
            return Err(format!(
                "{name}, {pattern}: the paper has {given} figures, one for each of {wanted} needed, or none"
            ));
        }
        for (at, subflows) in all.iter().enumerate() {
            let experiment = Experiment {
                network: method.network.unwrap_or(self.network).into(),
                rate: self.rate,
                delay: self.delay.duration(),
                queue: self.queue,
                pattern: pattern.clone(),
                scheme: method.scheme,
                subflows: *subflows,
                control: self.control,
                set_up: self.set_up.duration(),
                failures: self.failures.as_ref().map(Broken::failures),
                warm_up: self.warm_up.duration(),
                measured: self.measured.duration(),
            };
            let paper = paper.get(at).map(|percent| percent / 100.0);
            cells.push(Cell { method: name.clone(), experiment, paper });
        }
        Ok(())
    }

    /// One that is listed in the file, or one of those that are known.
    fn pattern(&self, name: &str) -> Result<Pattern, String> {
        match self.traffic.get(name) {
            Some(pairs) if pairs.is_empty() => Err(format!("traffic {name} has no transfers")),
            Some(pairs) => {
                Ok(Pattern::Listed(Arc::new(Listed { name: name.to_owned(), pairs: pairs.clone() })))
            }
            None => name.parse().map_err(|error| format!("{error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "
simulation: small
network: fattree:4
rate: 10Mbit
control: lia
measured: 1s
subflows: [1, 2]
methods:
  - { name: M, scheme: disjoint:2/fewest-shared, paper: { permutation: [50, 90.5] } }
  - { name: R, scheme: shortest:4/random, paper: { permutation: [] } }
expect:
  - { name: close, within_points: 6, at_least: 0.8 }
  - { name: better, value: worst, method: M, relative_to: R, pattern: permutation, subflows: 2, at_least: 1.1 }
";

    #[test]
    fn every_method_is_run_with_every_traffic_and_number_of_subflows() {
        let study = Study::parse(GOOD, "good.yaml").unwrap();
        let cells =
            study.cells.iter().map(|cell| (cell.method.as_str(), cell.experiment.subflows, cell.paper));
        let expected = [("M", 1, Some(0.5)), ("M", 2, Some(0.905)), ("R", 1, None), ("R", 2, None)];
        assert_eq!(cells.collect::<Vec<_>>(), expected);
        assert_eq!((study.runs(), study.expect.len()), (40, 2));
    }

    #[test]
    fn methods_may_have_a_network_and_subflows_of_their_own() {
        let own = "{ name: R, network: \"jellyfish:6,5,12\", subflows: [4],";
        let text = GOOD
            .replace("{ name: R,", own)
            .replace("relative_to: R,", "relative_to: R, relative_subflows: 4,");
        let study = Study::parse(&text, "own.yaml").unwrap();
        let cells = study.cells.iter().map(|it| (it.experiment.network.to_string(), it.experiment.subflows));
        let expected = [("fattree:4", 1), ("fattree:4", 2), ("jellyfish:6,5,12,0", 4)];
        assert_eq!(
            cells.collect::<Vec<_>>(),
            expected.map(|(network, subflows)| (network.to_owned(), subflows))
        );
        assert!(Study::parse(&GOOD.replace("{ name: R,", own), "own.yaml").is_err(), "R is not run with 2");
    }

    #[test]
    fn traffic_may_be_listed() {
        let text = GOOD.replace("methods:", "traffic: { swap: [[0, 9], [9, 0]] }\nmethods:");
        let study = Study::parse(&text.replace("permutation", "swap"), "listed.yaml").unwrap();
        assert!(study.cells.iter().all(|cell| cell.experiment.pattern.to_string() == "swap"));
        let Pattern::Listed(listed) = &study.cells[0].experiment.pattern else { panic!() };
        assert_eq!((listed.impossible(16), listed.impossible(9)), (None, Some((0, 9))));
        let none = text.replace("[[0, 9], [9, 0]]", "[]").replace("permutation", "swap");
        assert!(Study::parse(&none, "f").unwrap_err().to_string().contains("traffic swap has no transfers"));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (from, to, message) in [
            ("network: fattree:4", "network: fatcat:4", "file:3:10: there is no generator \"fatcat\""),
            ("rate: 10Mbit", "rate: fast", "file:4:7: "),
            ("control: lia", "control: tcp", "no congestion control is called \"tcp\""),
            ("control: lia", "contrl: lia", "there is no key \"contrl\" here"),
            ("2/fewest-shared", "2/ecmp", "\"disjoint:2/ecmp\" is no scheme"),
            ("[50, 90.5]", "[50]", "M, permutation: the paper has 1 figures"),
            ("{ permutation: []", "{ circle: []", "\"circle\" is no traffic"),
            ("subflows: [1, 2]", "subflows: []", "nothing is compared"),
            ("value: worst", "value: best", "\"best\" is neither mean nor worst nor goodput"),
            (
                "relative_to: R",
                "relative_to: Q",
                "better: Q is not run with permutation traffic and 2 subflows",
            ),
            ("within_points: 6", "within_points: 6, value: mean", "close: give either within_points, or"),
        ] {
            let error = Study::parse(&GOOD.replace(from, to), "file").unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
