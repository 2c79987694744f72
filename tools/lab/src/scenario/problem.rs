//! Problems of a scenario file, each with line, column, key and remedy.

use std::fmt;

use braid_types::plain_words;
use serde_saphyr::Location;

/// A problem of a scenario file with its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line and column, from 1; `None` if the problem has no location.
    pub at: Option<(u64, u64)>,
    /// The key, such as `topology.links[2].between[0]`; empty if the file is not YAML.
    pub key: String,
    /// The problem.
    pub what: String,
    /// The remedy.
    pub remedy: String,
}

/// An invalid scenario file with all of its problems.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// The file's name.
    pub file: String,
    /// At least one.
    pub problems: Vec<Problem>,
}

impl ScenarioError {
    pub(super) fn new(file: &str, problems: Vec<Problem>) -> Self {
        Self { file: file.to_owned(), problems }
    }

    pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        let problem = Problem {
            at: None,
            key: String::new(),
            what: format!("cannot be read: {error}"),
            remedy: "name a scenario file, such as scenarios/ams-gva.yaml".to_owned(),
        };
        Self::new(file, vec![problem])
    }

    pub(super) fn malformed(file: &str, text: &str, error: &serde_saphyr::Error) -> Self {
        let at = error.location().and_then(place);
        let message = plain(&error.without_snippet().to_string());
        let about_a_key =
            ["unknown field", "missing field", "duplicate"].iter().any(|it| message.starts_with(it));
        let what = plain_words(&message);
        let key = if about_a_key { None } else { at.and_then(|at| key_before(text, at)) };
        let remedy = "the keys and their values are described in docs/scenarios.md".to_owned();
        Self::new(file, vec![Problem { at, key: key.unwrap_or_default(), what, remedy }])
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            problem.write(f, &self.file)?;
        }
        Ok(())
    }
}

impl Problem {
    fn write(&self, f: &mut fmt::Formatter<'_>, file: &str) -> fmt::Result {
        f.write_str(file)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

/// The problems found so far.
#[derive(Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    pub(super) fn add(
        &mut self,
        at: Location,
        key: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (key, what, remedy) = (key.into(), what.into(), remedy.into());
        self.0.push(Problem { at: place(at), key, what, remedy });
    }

    /// The problems in the order of the file.
    pub(super) fn into_result<T>(mut self, value: T) -> Result<T, Vec<Problem>> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort_by_key(|problem| problem.at);
        Err(self.0)
    }
}

fn place(location: Location) -> Option<(u64, u64)> {
    (location.line() > 0).then(|| (location.line(), location.column()))
}

/// The parser's message without its location and its own remedies.
fn plain(text: &str) -> String {
    let first = text.lines().next().unwrap_or(text);
    let cut =
        [" at line ", " (line ", ", set DuplicateKeyPolicy"].iter().filter_map(|it| first.find(it)).min();
    let text = cut.map_or(first, |cut| &first[..cut]).trim_end_matches(':');
    match text.strip_prefix("invalid ") {
        Some("u8" | "u16" | "u64") => "not a whole number in the range of this key".to_owned(),
        _ => text.to_owned(),
    }
}

/// The last key before a location in its line: the key of the value there.
fn key_before(text: &str, (line, column): (u64, u64)) -> Option<String> {
    let line = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let before: String = line.chars().take(usize::try_from(column).ok()?.checked_sub(1)?).collect();
    let (before, _) = before.rsplit_once(": ")?;
    let start = before.rfind(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).map_or(0, |at| at + 1);
    before.get(start..).filter(|key| !key.is_empty()).map(str::to_owned)
}
