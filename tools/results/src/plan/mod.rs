//! The plan: what is run, how often, what the papers report, and the reasons for what is not met.

use std::collections::BTreeMap;

use braid_lab::scenario::{Expectation, Limit, Metric, Mode, Reference, Tool};
use serde::Deserialize;

use crate::error::ResultsError;
use crate::job::Job;
use crate::shorten::Shortening;

const SHIPPED: &str = include_str!("../../results.yaml");

/// Everything that is measured for the page.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Repetitions of a run that says nothing else.
    pub repeat: u16,
    /// Attempts at one repetition while other load disturbs it.
    pub attempts: u16,
    /// The page's first words, in Markdown.
    pub introduction: String,
    /// In the order of the page.
    pub chapters: Vec<Chapter>,
    /// Named parts of the plan.
    pub selections: BTreeMap<String, Selection>,
}

/// A paper.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// Its name on the command line.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What stands under the heading, in Markdown.
    #[serde(default)]
    pub text: String,
    /// In the order of the page.
    pub runs: Vec<Run>,
}

/// A scenario or a simulator preset.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The scenario: a file in `scenarios/`, without its ending.
    pub scenario: Option<String>,
    /// The simulator's preset.
    pub preset: Option<String>,
    /// Repetitions; by default the plan's for a scenario, and 1 for a preset, whose seeds repeat it.
    pub repeat: Option<u16>,
    /// Its heading.
    pub title: String,
    /// What stands under the heading, in Markdown.
    #[serde(default)]
    pub text: String,
    /// The paper's figures.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Which plot shows it.
    #[serde(default)]
    pub plot: Plot,
    /// The horizontal axis of a plot of figures.
    #[serde(default)]
    pub x_axis: String,
    /// By the name of an expectation: why it is not met, where that is known.
    #[serde(default)]
    pub reasons: BTreeMap<String, String>,
}

/// The plot of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plot {
    /// None.
    #[default]
    None,
    /// Rates over time, of the first repetition.
    OverTime,
    /// Goodput by the number of streams.
    Streams,
    /// The figures that have an `x`.
    Figures,
    /// Ratios of profiles beside published ones, of the first repetition.
    Profiles,
    /// What the simulator draws.
    Study,
}

/// A figure of a paper, and the value that stands for it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// The paper's figure with its unit, as it stands there; empty if the paper has none.
    #[serde(default)]
    pub paper: String,
    /// The value.
    pub value: Metric,
    /// Its unit in the page.
    #[serde(default)]
    pub unit: Unit,
    /// Selects the variant.
    pub variant: Option<String>,
    /// Selects the mode.
    pub mode: Option<Mode>,
    /// Selects the tool.
    pub tool: Option<Tool>,
    /// Selects the length in bytes.
    pub bytes: Option<u64>,
    /// Selects the sender.
    pub from: Option<String>,
    /// The value is divided by that of this variant.
    pub relative_to: Option<String>,
    /// The value is divided by that of this mode.
    pub relative_to_mode: Option<Mode>,
    /// The place on a plot's horizontal axis.
    pub x: Option<f64>,
    /// The line of a plot.
    pub line: Option<String>,
}

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bits a second, written as Mbit/s.
    #[default]
    Mbit,
    /// A share, written in percent.
    Percent,
    /// A ratio.
    Ratio,
    /// A number of seconds.
    Seconds,
    /// A count.
    Count,
}

/// A named part of the plan.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Its purpose.
    pub text: String,
    /// Repetitions of each run.
    pub repeat: Option<u16>,
    /// The runs, some of them shortened.
    pub runs: Vec<Shortening>,
}

impl Plan {
    /// The plan that comes with Braid.
    ///
    /// # Errors
    ///
    /// None: a test reads it.
    pub fn shipped() -> Result<Self, ResultsError> {
        Self::parse(SHIPPED, "tools/results/results.yaml")
    }

    /// Reads a plan; `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Malformed`] with the line and column, or [`ResultsError::Plan`].
    pub fn parse(text: &str, file: &str) -> Result<Self, ResultsError> {
        let malformed = |error: serde_saphyr::Error| ResultsError::Malformed {
            file: file.to_owned(),
            why: error.to_string(),
        };
        let plan: Self = serde_saphyr::from_str(text).map_err(malformed)?;
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), ResultsError> {
        for run in self.runs() {
            if run.scenario.is_some() == run.preset.is_some() {
                return Err(ResultsError::plan(&run.title, "give either scenario or preset"));
            }
        }
        for shortening in self.selections.values().flat_map(|it| &it.runs) {
            self.run(&shortening.run)?;
        }
        Ok(())
    }

    /// All runs, in the order of the page.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.chapters.iter().flat_map(|chapter| &chapter.runs)
    }

    fn run(&self, name: &str) -> Result<&Run, ResultsError> {
        self.runs().find(|run| run.name() == name).ok_or_else(|| self.unknown(name))
    }

    /// What the names stand for: a selection, a chapter or a run each; without names, all runs.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Unknown`].
    pub fn select(&self, names: &[String]) -> Result<Vec<Job<'_>>, ResultsError> {
        if names.is_empty() {
            return Ok(self.runs().map(|run| self.job(run)).collect());
        }
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for name in names {
            for job in self.named(name)? {
                if jobs.iter().all(|other| other.name != job.name) {
                    jobs.push(job);
                }
            }
        }
        Ok(jobs)
    }

    fn named(&self, name: &str) -> Result<Vec<Job<'_>>, ResultsError> {
        if let Some(selection) = self.selections.get(name) {
            let jobs = selection.runs.iter().map(|it| self.shortened(name, selection, it));
            return jobs.collect();
        }
        if let Some(chapter) = self.chapters.iter().find(|chapter| chapter.name == name) {
            return Ok(chapter.runs.iter().map(|run| self.job(run)).collect());
        }
        Ok(vec![self.job(self.run(name)?)])
    }

    fn shortened<'a>(
        &'a self,
        name: &str,
        selection: &Selection,
        shortening: &'a Shortening,
    ) -> Result<Job<'a>, ResultsError> {
        let job = self.job(self.run(&shortening.run)?);
        let repeat = selection.repeat.unwrap_or(job.repeat);
        Ok(match shortening.changes_nothing() {
            true => Job { repeat, ..job },
            false => {
                Job { name: format!("{}~{name}", job.name), repeat, shortening: Some(shortening), ..job }
            }
        })
    }

    /// A run as a whole.
    pub fn job<'a>(&self, run: &'a Run) -> Job<'a> {
        let usual = if run.scenario.is_some() { self.repeat } else { 1 };
        Job { name: run.name().to_owned(), run, shortening: None, repeat: run.repeat.unwrap_or(usual).max(1) }
    }

    fn unknown(&self, name: &str) -> ResultsError {
        let selections = self.selections.keys().map(String::as_str);
        let chapters = self.chapters.iter().map(|chapter| chapter.name.as_str());
        let known: Vec<_> = selections.chain(chapters).chain(self.runs().map(Run::name)).collect();
        ResultsError::Unknown { name: name.to_owned(), known: known.join(", ") }
    }
}

impl Run {
    /// Its name: that of the scenario's file or of the preset.
    pub fn name(&self) -> &str {
        self.scenario.as_deref().or(self.preset.as_deref()).unwrap_or_default()
    }

    /// The command that runs it once.
    pub fn command(&self) -> String {
        match (&self.scenario, &self.preset) {
            (Some(scenario), _) => format!("braid lab run scenarios/{scenario}.yaml"),
            (None, preset) => format!("braid sim run --preset {}", preset.as_deref().unwrap_or_default()),
        }
    }
}

impl Figure {
    fn reference(&self) -> Option<Reference> {
        let variant = self.relative_to.clone().map(Reference::Variant);
        variant.or_else(|| self.relative_to_mode.map(Reference::Mode))
    }

    /// As a scenario's expectation, whose limit holds for any number.
    pub(crate) fn expectation(&self) -> Expectation {
        Expectation {
            name: self.name.clone(),
            value: self.value,
            mode: self.mode,
            tool: self.tool,
            bytes: self.bytes,
            variant: self.variant.clone(),
            from: self.from.clone(),
            relative_to: self.reference(),
            needs_quiet_machine: false,
            profiles: None,
            of: braid_lab::scenario::Aggregate::Worst,
            limit: Limit::AtLeast(f64::MIN),
        }
    }
}

#[cfg(test)]
mod tests;
