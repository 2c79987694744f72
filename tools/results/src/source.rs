//! What a job runs: a scenario of the lab or a study of the simulator, and a digest of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use braid_lab::Scenario;
use braid_lab::scenario::Traffic;
use braid_sim::StudyKind;
use braid_sim::study::Preset;
use sha2::{Digest, Sha256};

use crate::error::ResultsError;
use crate::job::Job;
use crate::shorten;

/// What a job runs.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// A scenario; each repetition is a lab of its own.
    Lab(Box<Scenario>),
    /// A study.
    Study(Box<StudyKind>),
}

/// The time to build, ready and remove a lab, for estimates.
const LAB_OVERHEAD: Duration = Duration::from_secs(6);
/// The time to start and end the tools of a transfer, for estimates.
const TRANSFER_OVERHEAD: Duration = Duration::from_secs(1);

impl Source {
    /// Reads what `job` runs, from the scenarios in `folder`.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Plan`] if it does not exist, is malformed or has no traffic.
    pub fn load(job: &Job<'_>, folder: &Path) -> Result<(Self, String), ResultsError> {
        let failed = |why: String| ResultsError::plan(&job.name, why);
        let shortened = serde_json::to_string(&job.shortening).unwrap_or_default();
        if let Some(name) = &job.run.scenario {
            let path = folder.join(format!("{name}.yaml"));
            let text = std::fs::read_to_string(&path).map_err(|error| ResultsError::file(&path, error))?;
            let scenario = Scenario::parse(&text, &path.display().to_string());
            let scenario = checked(job, scenario.map_err(|error| failed(error.to_string()))?)?;
            return Ok((Self::Lab(Box::new(scenario)), digest(&[&text, &shortened])));
        }
        let preset: Preset = job.run.name().parse().map_err(|error| failed(format!("{error}")))?;
        let study = preset.study().map_err(|error| failed(error.to_string()))?;
        let study = job.shortening.map_or_else(|| study.clone(), |it| it.study(study.clone()));
        // A study has no other text than its parts.
        let text = format!("{study:?}");
        Ok((Self::Study(Box::new(study)), digest(&[&text, &shortened])))
    }

    /// The congestion controls that it runs with.
    pub fn controls(&self) -> BTreeSet<String> {
        match self {
            Self::Lab(scenario) => {
                let all = scenario.cases().into_iter().flat_map(|case| case.scenario.topology.hosts);
                all.filter_map(|host| host.congestion_control).collect()
            }
            Self::Study(study) => match &**study {
                StudyKind::Transfers(it) => {
                    it.cells.iter().map(|it| it.experiment.control.to_string()).collect()
                }
                StudyKind::Workload(it) => {
                    it.cells.iter().map(|it| it.workload.control.to_string()).collect()
                }
                StudyKind::Convergence(it) => it.controls.iter().map(ToString::to_string).collect(),
            },
        }
    }

    /// About how long a repetition takes; `None` for a study.
    pub fn estimate(&self) -> Option<Duration> {
        let Self::Lab(scenario) = self else { return None };
        let each = scenario.cases().into_iter().map(|case| {
            let scenario = case.scenario;
            LAB_OVERHEAD
                + scenario.traffic.as_ref().map_or(Duration::ZERO, |traffic| length(&scenario, traffic))
        });
        Some(each.sum())
    }
}

fn checked(job: &Job<'_>, scenario: Scenario) -> Result<Scenario, ResultsError> {
    let mut scenario = match job.shortening {
        Some(shortening) => match shorten::missing(shortening, &scenario) {
            Some(what) => return Err(ResultsError::plan(&job.name, what)),
            None => shortening.scenario(scenario),
        },
        None => scenario,
    };
    let Some(traffic) = &mut scenario.traffic else {
        return Err(ResultsError::plan(&job.name, "the scenario has no traffic"));
    };
    // The plan repeats whole runs, each in a lab of its own.
    traffic.repeat = 1;
    Ok(scenario)
}

fn length(scenario: &Scenario, traffic: &Traffic) -> Duration {
    let rounds = if traffic.simultaneous { 1 } else { traffic.directions.len() };
    let settings = rounds * traffic.modes.len() * traffic.streams.len();
    let capacity = traffic.directions.iter().map(|it| scenario.topology.capacity(it.from, it.to).as_f64());
    let capacity = capacity.fold(f64::MAX, f64::min).max(1.0);
    let most = traffic.warm_up + traffic.duration;
    let works = traffic.works.iter().map(|work| match work.bytes {
        0 => most + TRANSFER_OVERHEAD,
        // Half of the network's capacity is between one path and all.
        bytes => Duration::from_secs_f64(bytes as f64 * 16.0 / capacity).min(most) + TRANSFER_OVERHEAD,
    });
    works.sum::<Duration>() * u32::try_from(settings).unwrap_or(u32::MAX)
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part.as_bytes()));
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
