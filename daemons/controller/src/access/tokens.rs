use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::Right;

/// A token with fewer characters can be guessed.
const SHORTEST: usize = 16;

/// Those who may ask from other machines.
#[derive(Clone)]
pub struct Tokens {
    /// By the hash of the token, so that a comparison takes as long whatever is wrong.
    by_hash: BTreeMap<[u8; 32], Holder>,
}

#[derive(Clone)]
struct Holder {
    name: String,
    may: Right,
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
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

/// As the file says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    token: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    token: String,
    may: Right,
}

impl Tokens {
    /// Reads a TOML file: `[[token]]` with `name`, `token`, and `may`: `read`, `use` or `change`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has something else in it, a token twice, or one of less than 16 characters.
    pub fn read(path: &Path) -> Result<Self, TokensError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|source| TokensError::Read { file: file.clone(), source })?;
        Self::parse(&text).map_err(|reason| TokensError::Content { file, reason })
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        // The text is left out of what is said: there are tokens in it.
        let line = |error: &toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
        };
        let file: File =
            toml::from_str(text).map_err(|it| format!("line {}: {}", line(&it), it.message()))?;
        let mut by_hash = BTreeMap::<_, Holder>::new();
        for Entry { name, token, may } in file.token {
            if token.trim().len() < SHORTEST {
                return Err(format!("{name:?}: its token has less than {SHORTEST} characters"));
            }
            if let Some(other) = by_hash.insert(hash(&token), Holder { name: name.clone(), may }) {
                return Err(format!("{:?} and {name:?} have the same token", other.name));
            }
        }
        Ok(Self { by_hash })
    }

    /// What the holder of this token may do, if anybody holds it.
    pub(super) fn right(&self, token: &str) -> Option<Right> {
        self.by_hash.get(&hash(token)).map(|holder| holder.may)
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.trim().as_bytes()).into()
}

/// Without tokens.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_hash.values().map(|holder| &holder.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[[token]]\nname = \"a\"\ntoken = \"0123456789abcdef\"\nmay = \"change\"\n";

    #[test]
    fn a_token_says_what_its_holder_may_do() {
        let tokens = Tokens::parse(FILE).expect("a valid file");
        assert_eq!(tokens.right("0123456789abcdef\n"), Some(Right::Change));
        assert_eq!(tokens.right("0123456789abcde"), None);
        assert_eq!(tokens.right(""), None);
    }

    #[test]
    fn what_is_wrong_in_the_file_is_told_without_tokens() {
        let cases = [
            (FILE.replace("0123456789abcdef", "0123456789"), "\"a\": its token has less than 16"),
            (FILE.replace("change", "everything"), "line 4: unknown variant"),
            (FILE.replace("may", "mya"), "line "),
            (format!("{FILE}{FILE}"), "\"a\" and \"a\" have the same token"),
        ];
        for (text, start) in cases {
            let error = Tokens::parse(&text).expect_err(&text);
            assert!(error.starts_with(start), "{error}");
            assert!(!error.contains("0123456789"), "{error}");
        }
        assert!(!format!("{:?}", Tokens::parse(FILE)).contains("0123"));
    }
}
