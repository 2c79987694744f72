//! Problems of a file, each with its line.

use std::fmt;
use std::ops::Range;
use std::path::Path;

/// A problem of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

impl Problem {
    /// A problem at a place of `text`.
    pub fn at(text: &str, span: &Range<usize>, what: impl Into<String>) -> Self {
        let before = text.bytes().take(span.start);
        Self { line: 1 + before.filter(|byte| *byte == b'\n').count(), what: what.into() }
    }
}

/// The problems of a file as text: a line for each, in the form of compilers.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a>(pub &'a Path, pub &'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |problem: &Problem| format!("{}:{}: {}", self.0.display(), problem.line, problem.what);
        f.write_str(&self.1.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_has_the_line_of_its_place() {
        let text = "one\ntwo\nthree";
        let problems = [Problem::at(text, &(0..1), "wrong"), Problem::at(text, &(4..7), "wrong, too")];
        assert_eq!(
            Listed(Path::new("a.toml"), &problems).to_string(),
            "a.toml:1: wrong\na.toml:2: wrong, too"
        );
    }
}
