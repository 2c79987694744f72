//! A study of any kind, with its report: the common front of `braid sim`.

use std::path::Path;
use std::sync::Arc;

use braid_topology::Blueprint;
use braid_types::BitsPerSec;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::experiment::{Cancel, ExperimentError, Layout};
use crate::report::{Report, Verdict};
use crate::study::{Changes, StudyError, malformed};
use crate::{convergence, study, workload};

/// A study of any kind, as a file describes it.
#[derive(Clone, PartialEq, Debug)]
pub enum StudyKind {
    /// Long transfers that begin together.
    Transfers(study::Study),
    /// Short and long flows that come as they like.
    Workload(workload::Study),
    /// One connection over given paths.
    Convergence(convergence::Study),
}

/// What a study of any kind showed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReportKind {
    /// See [`StudyKind::Transfers`].
    Transfers(Report<study::Row>),
    /// See [`StudyKind::Workload`].
    Workload(Report<workload::Row>),
    /// See [`StudyKind::Convergence`].
    Convergence(Report<convergence::Row>),
}

/// The one key that is read first.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: Kind,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Transfers,
    Workload,
    Convergence,
}

impl StudyKind {
    /// The JSON schema of a study of any kind, without what `parse` checks of several keys together.
    pub fn schema() -> Schema {
        let mut generator = SchemaGenerator::default();
        let [transfers, workload, convergence] =
            [study::schema, workload::schema, convergence::schema].map(|it| it(&mut generator));
        let is =
            |kind: &str| json_schema!({ "properties": { "kind": { "const": kind } }, "required": ["kind"] });
        json_schema!({
            "$schema": generator.settings().meta_schema,
            "type": "object",
            "properties": { "kind": { "enum": ["transfers", "workload", "convergence"] } },
            "if": is("workload"),
            "then": workload,
            "else": { "if": is("convergence"), "then": convergence, "else": transfers },
            "$defs": generator.take_definitions(true),
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`StudyError`], with the line and column where there is one.
    pub fn load(path: &Path) -> Result<Self, StudyError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &file),
            Err(error) => Err(StudyError::Unreadable { file, why: error.to_string() }),
        }
    }

    /// Reads a text; `file` is what errors call it.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn parse(text: &str, file: &str) -> Result<Self, StudyError> {
        let head: Head = serde_saphyr::from_str(text).map_err(|error| malformed(file, &error))?;
        Ok(match head.kind {
            Kind::Transfers => Self::Transfers(study::Study::parse(text, file)?),
            Kind::Workload => Self::Workload(workload::parse(text, file)?),
            Kind::Convergence => Self::Convergence(convergence::parse(text, file)?),
        })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Self::Transfers(it) => &it.name,
            Self::Workload(it) => &it.name,
            Self::Convergence(it) => &it.name,
        }
    }

    /// What it shows, for people.
    pub fn description(&self) -> &str {
        match self {
            Self::Transfers(it) => &it.description,
            Self::Workload(it) => &it.description,
            Self::Convergence(it) => &it.description,
        }
    }

    /// The same, with changes made. A study of convergence keeps its own network.
    #[must_use]
    pub fn with(self, changes: Changes) -> Self {
        let Changes { seeds, measured, control, .. } = changes;
        match self {
            Self::Transfers(it) => Self::Transfers(it.with(changes)),
            Self::Workload(it) => Self::Workload(changed_workload(it, changes)),
            Self::Convergence(it) => {
                let (seeds, measured) = (seeds.unwrap_or(it.seeds), measured.unwrap_or(it.measured));
                let controls = control.map_or(it.controls, |control| vec![control]);
                let mut expect = it.expect;
                expect.retain(|expect| controls.contains(&expect.control));
                Self::Convergence(convergence::Study { seeds, measured, controls, expect, ..it })
            }
        }
    }

    /// How many runs it takes.
    pub fn runs(&self) -> u64 {
        match self {
            Self::Transfers(it) => it.runs(),
            Self::Workload(it) => it.runs(),
            Self::Convergence(it) => it.runs(),
        }
    }

    /// Runs everything, with the seeds from 1 on, on so many threads; calls `done` after each run.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`] if something cannot be run, or would not fit into so many bytes of memory.
    pub fn run(
        &self,
        threads: usize,
        memory: u64,
        cancel: &Cancel,
        done: &(dyn Fn(String) + Sync),
    ) -> Result<ReportKind, ExperimentError> {
        Ok(match self {
            Self::Transfers(it) => ReportKind::Transfers(it.run(threads, memory, cancel, done)?),
            Self::Workload(it) => ReportKind::Workload(it.run(threads, memory, cancel, done)?),
            Self::Convergence(it) => ReportKind::Convergence(it.run(threads, cancel, done)?),
        })
    }
}

fn changed_workload(mut study: workload::Study, changes: Changes) -> workload::Study {
    let Changes { network, seeds, measured, control } = changes;
    study.seeds = seeds.unwrap_or(study.seeds);
    if network.is_some() {
        study.expect.clear();
    }
    for cell in &mut study.cells {
        if let Some(network) = &network {
            // A load is of what every host can take.
            cell.workload.fabric.rate = slowest_host(network).unwrap_or(cell.workload.fabric.rate);
            cell.workload.fabric.network = Layout::Given(Arc::clone(network));
        }
        cell.workload.measured = measured.unwrap_or(cell.workload.measured);
        cell.workload.control = control.unwrap_or(cell.workload.control);
    }
    study
}

/// The capacity of the slowest interface of a host.
fn slowest_host(network: &Blueprint) -> Option<BitsPerSec> {
    let interfaces = network.hosts().iter().flat_map(|host| &host.interfaces);
    interfaces.flat_map(|it| it.states).map(|state| state.capacity).min()
}

impl ReportKind {
    /// A table for people.
    pub fn table(&self) -> String {
        match self {
            Self::Transfers(it) => study::table(it),
            Self::Workload(it) => workload::table(it),
            Self::Convergence(it) => convergence::table(it),
        }
    }

    /// Comma-separated values, with a heading.
    pub fn csv(&self) -> String {
        match self {
            Self::Transfers(it) => study::csv(it),
            Self::Workload(it) => workload::csv(it),
            Self::Convergence(it) => convergence::csv(it),
        }
    }

    /// A picture, as SVG; of long transfers those with so many subflows, by default 4 or, where there are none, the most.
    ///
    /// # Errors
    ///
    /// If there is nothing to draw.
    pub fn plot(&self, subflows: Option<usize>) -> Result<String, String> {
        match self {
            Self::Transfers(it) => {
                let has = |count| it.rows.iter().any(|row| row.subflows == count);
                let most = it.rows.iter().map(|row| row.subflows).max().unwrap_or(1);
                study::plot(it, subflows.unwrap_or(if has(4) { 4 } else { most }))
            }
            Self::Workload(it) => workload::plot(it),
            Self::Convergence(it) => convergence::plot(it),
        }
    }

    /// One for each expectation.
    pub fn expectations(&self) -> &[Verdict] {
        match self {
            Self::Transfers(it) => &it.expectations,
            Self::Workload(it) => &it.expectations,
            Self::Convergence(it) => &it.expectations,
        }
    }

    /// Whether all runs were made to their end.
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Transfers(it) => it.complete,
            Self::Workload(it) => it.complete,
            Self::Convergence(it) => it.complete,
        }
    }

    /// Events of all runs, and the seconds that these took, one after the other.
    pub fn cost(&self) -> (u64, f64) {
        match self {
            Self::Transfers(it) => (it.events, it.seconds),
            Self::Workload(it) => (it.events, it.seconds),
            Self::Convergence(it) => (it.events, it.seconds),
        }
    }
}
