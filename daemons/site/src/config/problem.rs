//! Problems of a site's file: where they are, and what was probably meant.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// A problem of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Its content is wrong.
    #[error("{}", Listed(.file, .problems))]
    Content {
        /// The file.
        file: PathBuf,
        /// All that is wrong, in the order of the file.
        problems: Vec<Problem>,
    },
    /// The private key cannot be used.
    #[error("{file}: {what}")]
    Key {
        /// The file of the key.
        file: PathBuf,
        /// Why, without the key.
        what: String,
    },
}

struct Listed<'a>(&'a PathBuf, &'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |problem: &Problem| format!("{}:{}: {}", self.0.display(), problem.line, problem.what);
        f.write_str(&self.1.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

impl Problem {
    /// A problem at a place of `text`.
    pub(super) fn at(text: &str, span: &Range<usize>, what: impl Into<String>) -> Self {
        let before = text.bytes().take(span.start);
        Self { line: 1 + before.filter(|byte| *byte == b'\n').count(), what: what.into() }
    }

    /// What the parser of TOML says, and for an unknown key which one was probably meant.
    pub(super) fn of_parser(text: &str, error: &toml::de::Error) -> Self {
        let message = error.message().trim().replace('\n', ", ");
        let hint = meant(&message).map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
        Self::at(text, &error.span().unwrap_or_default(), message + &hint)
    }
}

/// The key most like the unknown one, of those that the message lists.
fn meant(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("unknown field `")?;
    let (unknown, expected) = rest.split_once('`')?;
    let known = expected.split('`').skip(1).step_by(2);
    let near = known.map(|key| (distance(unknown, key), key)).min()?;
    (near.0 * 2 <= unknown.len()).then_some(near.1)
}

/// Levenshtein's distance.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, byte) in one.bytes().enumerate() {
        let mut diagonal = place;
        let mut left = place + 1;
        for (cell, against) in row.iter_mut().skip(1).zip(other.bytes()) {
            let here = (diagonal + usize::from(byte != against)).min(left + 1).min(*cell + 1);
            (diagonal, left) = (*cell, here);
            *cell = here;
        }
        row.first_mut().into_iter().for_each(|cell| *cell = place + 1);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_was_meant_is_named_and_nothing_far_from_it() {
        let message = "unknown field `interfce`, expected one of `interface`, `rate`";
        assert_eq!(meant(message), Some("interface"));
        assert_eq!(meant("unknown field `zzzz`, expected `rate`"), None);
        assert_eq!(meant("missing field `rate`"), None);
        assert_eq!((distance("abc", "abc"), distance("", "ab"), distance("kitten", "sitting")), (0, 2, 3));
    }
}
