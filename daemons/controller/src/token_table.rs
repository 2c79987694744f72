//! Files that give tokens to whom they name, and the tables made of them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// A token with fewer characters can be guessed.
const SHORTEST: usize = 16;

/// Why nobody has a token.
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
    /// It does not say what it should.
    #[error("{file}: {reason}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong, and where.
        reason: String,
    },
}

/// Who holds a token, and what of him.
#[derive(Clone)]
pub(crate) struct TokenTable<T> {
    /// By the hash of the token, so that a comparison takes as long whatever is wrong.
    by_hash: BTreeMap<[u8; 32], (String, T)>,
}

impl<T> TokenTable<T> {
    /// One more holder. Errors: the token is too short, or another's; without the token.
    pub(crate) fn insert(&mut self, name: String, token: &str, value: T) -> Result<(), String> {
        if token.trim().len() < SHORTEST {
            return Err(format!("{name:?}: its token has less than {SHORTEST} characters"));
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

/// Without tokens.
impl<T> fmt::Debug for TokenTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_hash.values().map(|(name, _)| name)).finish()
    }
}

/// What `parse` makes of a file.
pub(crate) fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, TokenFileError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|source| TokenFileError::Read { file: file.clone(), source })?;
    parse(&text).map_err(|reason| TokenFileError::Content { file, reason })
}

/// The document of a TOML text. What is said of an error leaves the text out: there are tokens in it.
pub(crate) fn document<F: DeserializeOwned>(text: &str) -> Result<F, String> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
        format!("line {line}: {}", error.message())
    })
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.trim().as_bytes()).into()
}
