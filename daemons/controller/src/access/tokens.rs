//! API tokens with their rights (read, use, change), read from a TOML file.

use std::path::Path;

use serde::Deserialize;

use super::Right;
use crate::token_table::{TokenFileError, TokenTable, document, read};

/// The tokens of clients on other machines, with their rights.
#[derive(Clone, Debug)]
pub struct Tokens(TokenTable<Right>);

/// The file's content.
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
    access: Right,
}

impl Tokens {
    /// Reads a TOML file: `[[token]]` with `name`, `token`, and `access`: `read`, `use` or `change`.
    ///
    /// # Errors
    ///
    /// The file cannot be read or has unknown content, a token twice, or a token of less than 16 characters.
    pub fn read(path: &Path) -> Result<Self, TokenFileError> {
        read(path, Self::parse)
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut table = TokenTable::default();
        for Entry { name, token, access } in document::<File>(text)?.token {
            table.insert(name, &token, access)?;
        }
        Ok(Self(table))
    }

    /// The right that this token gives; `None` if the token is unknown.
    pub(super) fn right(&self, token: &str) -> Option<Right> {
        self.0.get(token).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[[token]]\nname = \"a\"\ntoken = \"0123456789abcdef\"\naccess = \"change\"\n";

    #[test]
    fn a_token_gives_its_right() {
        let tokens = Tokens::parse(FILE).expect("a valid file");
        assert_eq!(tokens.right("0123456789abcdef\n"), Some(Right::Change));
        assert_eq!(tokens.right("0123456789abcde"), None);
        assert_eq!(tokens.right(""), None);
    }

    #[test]
    fn errors_of_the_file_name_no_token() {
        let cases = [
            (FILE.replace("0123456789abcdef", "0123456789"), "\"a\": its token has fewer than 16"),
            (
                FILE.replace("change", "everything"),
                "line 4: there is no value \"everything\": write read, use or change",
            ),
            (FILE.replace("access", "acces"), "line "),
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
