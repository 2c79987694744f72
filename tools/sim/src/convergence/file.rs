//! Convergence studies read from YAML and checked.

use std::collections::BTreeMap;

use braid_link_model::{Delay, Parameters, QueueLimit};
use braid_types::BitsPerSec;
use serde::Deserialize;

use super::{Expectation, Study};
use crate::Control;
use crate::engine::NewConnection;
use crate::study::{StudyError, malformed, text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    simulation: String,
    #[serde(rename = "kind")]
    _kind: String,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    between: [String; 2],
    rate: BitsPerSec,
    #[serde(default)]
    delay: Delay,
    #[serde(default)]
    queue: QueueLimit,
}

#[derive(Deserialize)]
struct Name(#[serde(deserialize_with = "text")] Control);

#[derive(Deserialize)]
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
        let count = self.paths.len();
        if self.seeds == 0 || self.controls.is_empty() {
            return Err("nothing is run; give seeds and controls, one at least of each".to_owned());
        }
        if !(1..=NewConnection::MAX_SUBFLOWS).contains(&count) {
            return Err(format!("{count} paths; a connection takes 1 to {}", NewConnection::MAX_SUBFLOWS));
        }
        let mut names: Vec<_> = self.links.iter().flat_map(|link| &link.between).cloned().collect();
        names.sort_unstable();
        names.dedup();
        let place = |name: &String| {
            names.binary_search(name).map_err(|_| format!("no link leads to {name}, which a path passes"))
        };
        let mut links = Vec::new();
        for Link { between: [a, b], rate, delay, queue } in &self.links {
            if rate.0 < 8_000 {
                return Err(format!("the link {a} to {b} has a rate of {rate}; a link takes 8kbit at least"));
            }
            let link =
                Parameters { rate: Some(*rate), delay: *delay, queue: *queue, ..Parameters::default() };
            links.push(([place(a)?, place(b)?], link));
        }
        let mut paths = Vec::new();
        for (name, nodes) in &self.paths {
            let nodes = nodes.iter().map(place).collect::<Result<Vec<_>, _>>()?;
            let is_link =
                |pair: &[usize]| links.iter().any(|([a, b], _)| [*a, *b] == *pair || [*b, *a] == *pair);
            if nodes.len() < 2 || !nodes.windows(2).all(is_link) {
                return Err(format!("path {name} does not follow links from one node to the next"));
            }
            paths.push((name.clone(), nodes));
        }
        let kept = self.keep.iter().map(|name| {
            let found = paths.iter().position(|(known, _)| known == name);
            found.ok_or_else(|| format!("there is no path {name} to keep to"))
        });
        let kept = kept.collect::<Result<_, _>>()?;
        let controls: Vec<_> = self.controls.iter().map(|Name(control)| *control).collect();
        if let Some(expect) = self.expect.iter().find(|it| !controls.contains(&it.control)) {
            return Err(format!("{}: {} is not run", expect.name, expect.control));
        }
        if let Some(expect) = self.expect.iter().find(|it| it.advised && self.advice.is_none()) {
            return Err(format!("{}: nothing is advised; say when, as in advice: 10s", expect.name));
        }
        let expect = self.expect.into_iter().map(|it| {
            let Expect { name, control, advised, at_least } = it;
            Expectation { name, control, advised, at_least }
        });
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
            expect: expect.collect(),
        })
    }
}
