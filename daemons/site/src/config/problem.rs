//! Problems of a site's file: where they are, and what was probably meant.

use std::path::PathBuf;

use braid_types::{Listed, Problem};

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

/// What the parser of TOML says, and for an unknown key which one was probably meant.
pub(super) fn of_parser(text: &str, error: &toml::de::Error) -> Problem {
    let message = error.message().trim().replace('\n', ", ");
    let hint = meant(&message).map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
    Problem::at(text, &error.span().unwrap_or_default(), message + &hint)
}

/// The key most like the unknown one, of those that the message lists.
fn meant(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("unknown field `")?;
    let (unknown, expected) = rest.split_once('`')?;
    nearest(unknown, expected.split('`').skip(1).step_by(2))
}

/// The known name most like an unknown one, if it is like it at all.
pub(super) fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|name| (strsim::damerau_levenshtein(unknown, name), name)).min()?;
    (near.0 * 2 <= unknown.len()).then_some(near.1)
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
    }
}
