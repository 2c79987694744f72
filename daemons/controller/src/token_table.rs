//! Token files, and the tables of token holders read from them.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use braid_types::plain_words;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tracing::warn;

/// Shorter tokens can be guessed.
const MIN_TOKEN_LENGTH: usize = 16;

/// Errors of token files.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The file cannot be read.
    #[error("cannot read tokens from {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file has invalid content.
    #[error("{file}: {reason}")]
    Content {
        /// The file.
        file: String,
        /// The error with its place.
        reason: String,
    },
}

/// A value for each token holder.
#[derive(Clone)]
pub(crate) struct TokenTable<T> {
    /// By the token's hash, so that the time of a comparison reveals nothing about the token.
    by_hash: BTreeMap<[u8; 32], (String, T)>,
}

impl<T> TokenTable<T> {
    /// Adds a holder. Errors if the token is too short or taken; the message does not contain the token.
    pub(crate) fn insert(&mut self, name: String, token: &str, value: T) -> Result<(), String> {
        if token.trim().len() < MIN_TOKEN_LENGTH {
            return Err(format!("{name:?}: its token has fewer than {MIN_TOKEN_LENGTH} characters"));
        }
        if let Some((other, _)) = self.by_hash.get(&hash(token)) {
            return Err(format!("{other:?} and {name:?} have the same token"));
        }
        self.by_hash.insert(hash(token), (name, value));
        Ok(())
    }

    pub(crate) fn get(&self, token: &str) -> Option<&T> {
        self.by_hash.get(&hash(token)).map(|(_, value)| value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_hash.is_empty()
    }
}

impl<T> Default for TokenTable<T> {
    fn default() -> Self {
        Self { by_hash: BTreeMap::new() }
    }
}

/// Shows names only, no tokens.
impl<T> fmt::Debug for TokenTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_hash.values().map(|(name, _)| name)).finish()
    }
}

/// Reads a file and parses it.
pub(crate) fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, TokenFileError> {
    let file = path.display().to_string();
    warn_of_readers(path);
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|source| TokenFileError::Read { file: file.clone(), source })?;
    parse(&text).map_err(|reason| TokenFileError::Content { file, reason })
}

/// Warns if every user of the machine may read a file with secrets.
fn warn_of_readers(path: &Path) {
    let mode = std::fs::metadata(path).map_or(0, |file| file.permissions().mode());
    if is_readable_by_others(mode) {
        let file = path.display();
        warn!(
            "every user of this machine may read the tokens in {file} (mode {:04o}): chmod 600 {file}",
            mode & 0o7777
        );
    }
}

/// Whether users other than the owner and the group may read or write a file of this mode.
const fn is_readable_by_others(mode: u32) -> bool {
    mode & 0o006 != 0
}

/// Parses a TOML text. Errors do not quote the text, since it contains tokens.
pub(crate) fn document<F: DeserializeOwned>(text: &str) -> Result<F, String> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
        format!("line {line}: {}", plain_words(error.message()))
    })
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.trim().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_every_user_may_read_are_warned_of() {
        for mode in [0o644, 0o604, 0o666, 0o100_644] {
            assert!(is_readable_by_others(mode), "{mode:o}");
        }
        for mode in [0o600, 0o400, 0o640, 0o100_600, 0] {
            assert!(!is_readable_by_others(mode), "{mode:o}");
        }
    }
}
