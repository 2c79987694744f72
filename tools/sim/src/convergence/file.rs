//! Convergence studies read from YAML and checked.

use std::collections::{BTreeMap, BTreeSet};

use braid_link_model::{Delay, Parameters, QueueLimit};
use braid_types::BitsPerSec;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::{Expectation, Study};
use crate::Control;
use crate::engine::NewConnection;
use crate::study::{StudyError, malformed, text};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ConvergenceStudy")]
struct File {
    /// The study's name
    simulation: String,
    #[serde(rename = "kind")]
    #[schemars(extend("enum" = ["convergence"]))]
    _kind: String,
    /// What it shows, for people
    #[serde(default)]
    description: String,
    links: Vec<Link>,
    /// By name, the nodes from the sender on.
    paths: BTreeMap<String, Vec<String>>,
    controls: Vec<Name>,
    capacity: BitsPerSec,
    #[serde(default)]
    hold_sender: bool,
    advice: Option<Delay>,
    settle: Delay,
    measured: Delay,
    sample: Delay,
    #[serde(default = "three")]
    seeds: u64,
    keep: Vec<String>,
    #[serde(default)]
    expect: Vec<Expect>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Link {
    between: [String; 2],
    rate: BitsPerSec,
    #[serde(default)]
    delay: Delay,
    #[serde(default)]
    queue: QueueLimit,
}

#[derive(Deserialize, JsonSchema)]
struct Name(#[serde(deserialize_with = "text")] Control);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Expect {
    name: String,
    #[serde(deserialize_with = "text")]
    control: Control,
    #[serde(default)]
    advised: bool,
    at_least: f64,
}

const fn three() -> u64 {
    3
}

/// The JSON schema of such a file.
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<File>()
}

/// Reads a study of convergence; `file` is what errors call it.
///
/// # Errors
///
/// [`StudyError`], with the line and column where there is one.
pub fn parse(text: &str, file: &str) -> Result<Study, StudyError> {
    let parsed: File = serde_saphyr::from_str(text).map_err(|error| malformed(file, &error))?;
    parsed.check().map_err(|what| StudyError::Inconsistent { file: file.to_owned(), what })
}

impl File {
    fn check(self) -> Result<Study, String> {
        self.check_sizes()?;
        let links = self.links()?;
        let paths = self.paths(&links)?;
        let kept = self.kept(&paths)?;
        let controls: Vec<_> = self.controls.iter().map(|Name(control)| *control).collect();
        self.expect.iter().try_for_each(|expect| expect.check(&controls, self.advice.is_some()))?;
        Ok(Study {
            name: self.simulation,
            description: self.description,
            seeds: self.seeds,
            links,
            hold_sender: self.hold_sender,
            paths,
            controls,
            advice: self.advice.map(Delay::duration),
            capacity: self.capacity.as_f64(),
            settle: self.settle.duration(),
            measured: self.measured.duration(),
            sample: self.sample.duration(),
            kept,
            expect: self.expect.into_iter().map(Expectation::from).collect(),
        })
    }

    fn check_sizes(&self) -> Result<(), String> {
        let count = self.paths.len();
        if self.seeds == 0 || self.controls.is_empty() {
            return Err("nothing is run; give seeds and controls, one at least of each".to_owned());
        }
        if !(1..=NewConnection::MAX_SUBFLOWS).contains(&count) {
            return Err(format!("{count} paths; a connection takes 1 to {}", NewConnection::MAX_SUBFLOWS));
        }
        Ok(())
    }

    /// The index of a node, which links give it.
    fn node(&self, name: &str) -> Result<usize, String> {
        let names: BTreeSet<_> = self.links.iter().flat_map(|link| &link.between).collect();
        let found = names.iter().position(|known| *known == name);
        found.ok_or_else(|| format!("no link leads to {name}, which a path passes"))
    }

    fn links(&self) -> Result<Vec<([usize; 2], Parameters)>, String> {
        let link = |Link { between: [a, b], rate, delay, queue }: &Link| {
            if rate.0 < 8_000 {
                return Err(format!("the link {a} to {b} has a rate of {rate}; a link takes 8kbit at least"));
            }
            let parameters =
                Parameters { rate: Some(*rate), delay: *delay, queue: *queue, ..Parameters::default() };
            Ok(([self.node(a)?, self.node(b)?], parameters))
        };
        self.links.iter().map(link).collect()
    }

    fn paths(&self, links: &[([usize; 2], Parameters)]) -> Result<Vec<(String, Vec<usize>)>, String> {
        let is_link = |pair: &[usize]| links.iter().any(|([a, b], _)| [*a, *b] == *pair || [*b, *a] == *pair);
        let path = |(name, nodes): (&String, &Vec<String>)| {
            let nodes = nodes.iter().map(|node| self.node(node)).collect::<Result<Vec<_>, _>>()?;
            if nodes.len() < 2 || !nodes.windows(2).all(is_link) {
                return Err(format!("path {name} does not follow links from one node to the next"));
            }
            Ok((name.clone(), nodes))
        };
        self.paths.iter().map(path).collect()
    }

    fn kept(&self, paths: &[(String, Vec<usize>)]) -> Result<Vec<usize>, String> {
        let index = |name: &String| {
            let found = paths.iter().position(|(known, _)| known == name);
            found.ok_or_else(|| format!("there is no path {name} to keep to"))
        };
        self.keep.iter().map(index).collect()
    }
}

impl Expect {
    fn check(&self, controls: &[Control], has_advice: bool) -> Result<(), String> {
        if !controls.contains(&self.control) {
            return Err(format!("{}: {} is not run", self.name, self.control));
        }
        if self.advised && !has_advice {
            return Err(format!("{}: nothing is advised; say when, as in advice: 10s", self.name));
        }
        Ok(())
    }
}

impl From<Expect> for Expectation {
    fn from(Expect { name, control, advised, at_least }: Expect) -> Self {
        Self { name, control, advised, at_least }
    }
}
