//! The measurement: what is missing in a store is run, and runs beside other load are repeated.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::error::ResultsError;
use crate::job::Job;
use crate::load::Load;
use crate::machine::{Machine, Provenance};
use crate::record::{Judged, Outcome, Record};
use crate::source::Source;
use crate::store::Store;

/// What runs a job once.
pub trait Runner {
    /// Runs it, and watches the machine.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Interrupted`] and [`ResultsError::Machine`] end the measurement; a run that fails has
    /// [`Outcome::Failed`].
    fn run(&mut self, name: &str, source: &Source) -> Result<(Outcome, Load), ResultsError>;

    /// Tells the user how far the measurement is.
    fn tell(&mut self, text: &str);
}

/// Where to measure, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The folder of the scenarios.
    pub scenarios: PathBuf,
    /// The number of repetitions, in the place of the plan's.
    pub repeat: Option<u16>,
    /// Attempts at a repetition that other load disturbs.
    pub attempts: u16,
    /// Whether records of other builds count, as long as their scenario is the same.
    pub any_build: bool,
}

/// A measured repetition.
#[derive(Clone, PartialEq, Debug)]
pub struct Done {
    /// The name of the job.
    pub name: String,
    /// The number of the repetition.
    pub number: u16,
    /// The expectations that do not hold, each with its value and limit, or the error of a run that failed.
    pub unmet: Vec<String>,
    /// Expectations that are not met for a reason that the plan gives.
    pub known: Vec<String>,
    /// Whether other load was beside it.
    pub disturbed: bool,
    /// The load beside it.
    pub load: Load,
}

/// The repetitions of a measurement.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    /// Those that were run, and those of before.
    pub done: Vec<Done>,
    /// How many were there already.
    pub kept: usize,
}

/// What is to be run.
struct Planned<'a> {
    job: &'a Job<'a>,
    source: Source,
    digest: String,
    number: u16,
    estimate: Duration,
}

/// Runs what is missing of `jobs` in `store`.
///
/// # Errors
///
/// [`ResultsError`]; what was measured before stays in the store, and the next call continues.
pub fn measure(
    jobs: &[Job<'_>],
    store: &Store,
    settings: &Settings,
    runner: &mut dyn Runner,
) -> Result<Measured, ResultsError> {
    let (mut measured, mut missing) = (Measured::default(), Vec::new());
    let build = Provenance::now(&settings.scenarios);
    for job in jobs {
        let (source, digest) = Source::load(job, &settings.scenarios)?;
        for number in 1..=settings.repeat.unwrap_or(job.repeat) {
            match store.read(&job.name, number) {
                Ok(Some(record)) if counts(&record, &digest, &build, settings) => {
                    measured.done.push(done(&record, job));
                    measured.kept += 1;
                }
                // A record of another release is measured anew.
                Ok(_) | Err(ResultsError::Malformed { .. }) => {
                    let estimate = estimate(store, job, &source);
                    let (source, digest) = (source.clone(), digest.clone());
                    missing.push(Planned { job, source, digest, number, estimate });
                }
                Err(error) => return Err(error),
            }
        }
    }
    for (place, planned) in missing.iter().enumerate() {
        let left: Duration = missing.iter().skip(place).map(|it| it.estimate).sum();
        let (name, number) = (&planned.job.name, planned.number);
        let (of, left) = (missing.len(), words(left));
        runner.tell(&format!("{} of {of}: {name}, repetition {number}; about {left} left", place + 1));
        let record = repeat(planned, &build, settings, runner)?;
        store.write(&record)?;
        let done = done(&record, planned.job);
        runner.tell(&told(&done));
        measured.done.push(done);
    }
    Ok(measured)
}

fn counts(record: &Record, digest: &str, build: &Provenance, settings: &Settings) -> bool {
    let same = settings.any_build || record.made.is_of_the_same_build(build);
    let ran = !matches!(record.outcome, Outcome::Failed(_));
    same && ran && record.digest == digest && (!record.is_disturbed() || record.attempts >= settings.attempts)
}

/// As long as it took before, or about.
fn estimate(store: &Store, job: &Job<'_>, source: &Source) -> Duration {
    /// A preset that was never measured.
    const UNKNOWN: Duration = Duration::from_secs(300);
    let before = store.all(&job.name).unwrap_or_default();
    let before = before.last().map(|it| Duration::from_secs_f64(it.made.seconds.clamp(0.0, 1e6)));
    before.or_else(|| source.estimate()).unwrap_or(UNKNOWN)
}

/// Attempts until nothing disturbs, at most so many; the least disturbed one counts, whatever its figures.
fn repeat(
    planned: &Planned<'_>,
    build: &Provenance,
    settings: &Settings,
    runner: &mut dyn Runner,
) -> Result<Record, ResultsError> {
    let mut best: Option<Record> = None;
    for attempt in 1..=settings.attempts.max(1) {
        let (made, start) = (Provenance::now(&settings.scenarios), Instant::now());
        let (outcome, load) = runner.run(&planned.job.name, &planned.source)?;
        let made = Provenance { started: made.started, ..build.clone() };
        let record = Record {
            schema: braid_lab::SCHEMA.to_owned(),
            name: planned.job.name.clone(),
            number: planned.number,
            digest: planned.digest.clone(),
            shortening: planned.job.shortening.cloned(),
            made: Provenance { seconds: start.elapsed().as_secs_f64(), ..made },
            machine: Machine::this(),
            controls: planned.source.controls(),
            load,
            attempts: attempt,
            outcome,
        };
        let disturbed = record.is_disturbed();
        let is_better = best.as_ref().is_none_or(|it| record.load.weight() < it.load.weight());
        best = Some(match best.take().filter(|_| !is_better) {
            Some(kept) => Record { attempts: attempt, ..kept },
            None => record,
        });
        if !disturbed {
            break;
        }
        runner.tell(&format!("other load was on the machine ({})", describe(&load)));
    }
    best.ok_or(ResultsError::Interrupted)
}

/// The load in words.
pub(crate) fn describe(load: &Load) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let before =
        load.pressure_before.map(|it| format!(", waiting before {}", percent(it))).unwrap_or_default();
    let stall = load.stall.map(|it| format!(", stood still for {:.0} ms", it * 1e3)).unwrap_or_default();
    format!("other processes {}, host {}{before}{stall}", percent(load.others), percent(load.steal))
}

fn done(record: &Record, job: &Job<'_>) -> Done {
    // What depends on the machine's speed does not count beside other load.
    let counts = |it: &Judged| !(it.needs_quiet_machine && record.is_disturbed());
    let unmet = record.outcome.verdicts().into_iter().filter(|it| !it.ok && counts(it));
    let (known, unmet): (Vec<_>, Vec<_>) = unmet.partition(|it| job.run.reasons.contains_key(&it.name));
    let mut unmet = texts(&unmet);
    if let Outcome::Failed(why) = &record.outcome {
        unmet.push(format!("failed: {why}"));
    }
    let (name, number, disturbed) = (record.name.clone(), record.number, record.is_disturbed());
    Done { name, number, unmet, known: texts(&known), disturbed, load: record.load }
}

fn texts(verdicts: &[Judged]) -> Vec<String> {
    verdicts.iter().map(Judged::to_string).collect()
}

fn told(done: &Done) -> String {
    let beside = if done.disturbed { ", beside other load" } else { "" };
    let verdict = match (done.unmet.as_slice(), done.known.as_slice()) {
        ([], []) => format!("all expectations met{beside}"),
        ([], known) => format!("not met{beside}, for known reasons: {}", known.join("; ")),
        (unmet, _) => format!("not met{beside}: {} ({})", unmet.join("; "), describe(&done.load)),
    };
    format!("{}, repetition {}: {verdict}", done.name, done.number)
}

fn words(time: Duration) -> String {
    let minutes = time.as_secs().div_ceil(60);
    match minutes / 60 {
        0 => format!("{minutes} min"),
        hours => format!("{hours} h {} min", minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::plan::Plan;

    const LAB: &str = "two-paths";
    const STUDY: &str = "vanderpol-convergence";

    /// Measures nothing, beside the load that is given for each run in turn.
    struct Fake {
        loads: Vec<f64>,
        runs: usize,
    }

    impl Runner for Fake {
        fn run(&mut self, _: &str, source: &Source) -> Result<(Outcome, Load), ResultsError> {
            let others = self.loads.get(self.runs).copied().unwrap_or(0.0);
            self.runs += 1;
            let outcome = match source {
                Source::Lab(scenario) => {
                    let empty = json!({ "scenario": scenario.name, "labs": [], "rows": [], "expectations": [], "ok": true });
                    Outcome::Lab(Box::new(serde_json::from_value(empty).unwrap()))
                }
                Source::Study(study) => {
                    let cancel = braid_sim::experiment::Cancel::default();
                    cancel.cancel();
                    Outcome::Study(Box::new(study.run(1, u64::MAX, &cancel, &|_| {}).unwrap()))
                }
            };
            Ok((outcome, Load { others, ..Load::default() }))
        }

        fn tell(&mut self, _: &str) {}
    }

    fn measured(name: &str, store: &Store, loads: &[f64], repeat: u16) -> (Measured, usize) {
        let plan = Plan::shipped().unwrap();
        let jobs = plan.select(&[name.to_owned()]).unwrap();
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let settings = Settings { scenarios, repeat: Some(repeat), attempts: 3, any_build: true };
        let mut fake = Fake { loads: loads.to_vec(), runs: 0 };
        let measured = measure(&jobs, store, &settings, &mut fake).unwrap();
        (measured, fake.runs)
    }

    #[test]
    fn a_second_measurement_continues_where_the_first_ended() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        assert_eq!(measured(STUDY, &store, &[], 2).1, 2);
        let (again, runs) = measured(STUDY, &store, &[], 3);
        assert_eq!((again.kept, again.done.len(), runs), (2, 3, 1));
    }

    #[test]
    fn disturbed_runs_are_repeated_a_few_times_and_the_least_disturbed_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        assert_eq!(measured(LAB, &store, &[0.5, 0.3, 0.4, 0.9], 1).1, 3);
        let record = store.read(LAB, 1).unwrap().unwrap();
        assert_eq!((record.load.others, record.attempts), (0.3, 3));
        assert_eq!(measured(LAB, &store, &[], 1).1, 0, "three attempts were enough");
    }

    #[test]
    fn no_load_disturbs_a_simulation() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let (measured, runs) = measured(STUDY, &store, &[0.5], 1);
        assert_eq!((runs, measured.done[0].disturbed), (1, false));
    }
}
