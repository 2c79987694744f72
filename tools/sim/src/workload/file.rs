//! Workload studies read from YAML and checked.

use braid_link_model::{Delay, QueueLimit};
use braid_topology::generate::Spec;
use braid_types::BitsPerSec;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::{Cell, Expectation, Figure, Kind, Sizes, Study, Treatment, Workload};
use crate::Control;
use crate::experiment::Fabric;
use crate::steering::Scheme;
use crate::study::{StudyError, malformed, text};

/// How to carry flows, where nothing is said: each on one path, at once.
const PLAIN: usize = 1;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WorkloadStudy")]
struct File {
    /// The study's name
    simulation: String,
    #[serde(rename = "kind")]
    #[schemars(extend("enum" = ["workload"]))]
    _kind: String,
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
    warm_up: Delay,
    measured: Delay,
    #[serde(default = "three")]
    seeds: u64,
    #[serde(deserialize_with = "text")]
    sizes: Sizes,
    /// In bytes.
    short: u64,
    large: u64,
    /// In percent.
    loads: Vec<f64>,
    methods: Vec<Method>,
    #[serde(default)]
    expect: Vec<Expect>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Method {
    name: String,
    small: Carried,
    large: Carried,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Carried {
    #[serde(deserialize_with = "text")]
    scheme: Scheme,
    #[serde(default = "plain")]
    subflows: usize,
    #[serde(default)]
    set_up: Delay,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Expect {
    name: String,
    method: String,
    relative_to: String,
    load: f64,
    #[serde(default)]
    of: Kind,
    #[serde(default)]
    value: Figure,
    at_most: f64,
}

const fn three() -> u64 {
    3
}

const fn plain() -> usize {
    PLAIN
}

/// The JSON schema of such a file.
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<File>()
}

/// Reads a study of workloads; `file` is what errors call it.
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
        if self.seeds == 0 || self.loads.is_empty() || self.methods.is_empty() {
            return Err("nothing is compared; give seeds, loads and methods, one at least of each".to_owned());
        }
        if let Some(load) = self.loads.iter().find(|load| !(**load > 0.0 && **load < 100.0)) {
            return Err(format!("a load of {load} % is not between 0 and 100"));
        }
        for Expect { name, method, relative_to, load, .. } in &self.expect {
            let has_methods =
                [method, relative_to].iter().all(|it| self.methods.iter().any(|known| known.name == **it));
            if !has_methods || !self.loads.contains(load) {
                return Err(format!("{name}: {method} and {relative_to} are not both run at {load} %"));
            }
        }
        let cells = self.loads.iter().flat_map(|load| self.methods.iter().map(move |it| (it, *load)));
        let cells = cells.map(|(method, load)| self.cell(method, load / 100.0)).collect();
        let expect = self.expect.into_iter().map(|it| Expectation {
            name: it.name,
            method: it.method,
            relative_to: it.relative_to,
            load: it.load / 100.0,
            of: it.of,
            value: it.value,
            at_most: it.at_most,
        });
        let (name, description, seeds) = (self.simulation, self.description, self.seeds);
        Ok(Study { name, description, seeds, short: self.short, cells, expect: expect.collect() })
    }

    fn cell(&self, method: &Method, load: f64) -> Cell {
        let treatment = |it: &Carried| Treatment {
            scheme: it.scheme,
            subflows: it.subflows,
            set_up: it.set_up.duration(),
        };
        let Self { network, rate, queue, sizes, control, .. } = *self;
        let workload = Workload {
            fabric: Fabric { network: network.into(), rate, delay: self.delay.duration(), queue },
            sizes,
            load,
            threshold: self.large,
            small: treatment(&method.small),
            large: treatment(&method.large),
            control,
            warm_up: self.warm_up.duration(),
            measured: self.measured.duration(),
        };
        Cell { method: method.name.clone(), workload }
    }
}
