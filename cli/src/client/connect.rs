//! Connections to a controller, with the credentials of the environment, and the exit codes of failures.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use braid_client::{Client, Credentials, Error, Options, Url};

use crate::exit::{self, Code, ExitWith};

/// A file with the token; `BRAID_TOKEN` is the token itself.
const TOKEN_FILE: &str = "BRAID_TOKEN_FILE";
const TOKEN: &str = "BRAID_TOKEN";
/// A file with the certificates that controllers' lead to.
const ROOTS: &str = "BRAID_CA";
/// Where Debian has those of the world.
const USUAL_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// A client of the controller at `url`, with the credentials of the environment.
pub(crate) fn connect(url: &Url) -> anyhow::Result<Client> {
    answer(Client::with(url, &options(url)?))
}

/// The options of such a client.
pub(crate) fn options(url: &Url) -> anyhow::Result<Options> {
    let credentials = Credentials { token: token()?, roots: roots(url)? };
    Ok(Options { credentials, ..Options::default() })
}

/// An answer, or the error with its exit code.
pub(crate) fn answer<T>(answer: Result<T, Error>) -> anyhow::Result<T> {
    answer.map_err(|error| match (&error, error.status()) {
        (Error::Absent { .. }, _) => {
            let advice = "start one with `braid controller run`, or name another with --controller";
            exit::error(Code::NotFound, format!("{error}; {advice}"))
        }
        (_, Some(404)) => exit::error(Code::NotFound, error),
        (_, Some(400)) | (Error::Token, _) => exit::error(Code::Usage, error),
        _ => exit::error(Code::Failure, error),
    })
}

/// The certificates by which the controller at `url` is known; none where nothing is encrypted.
pub(crate) fn roots(url: &Url) -> anyhow::Result<Vec<u8>> {
    if !url.is_encrypted() {
        return Ok(Vec::new());
    }
    let file = env::var_os(ROOTS).map_or_else(|| PathBuf::from(USUAL_ROOTS), PathBuf::from);
    let text = fs::read(&file);
    let text = text.with_context(|| format!("certificates to trust ({ROOTS}): {}", file.display()));
    text.exit_with(Code::Usage)
}

fn token() -> anyhow::Result<Option<String>> {
    let Some(file) = env::var_os(TOKEN_FILE).map(PathBuf::from) else { return Ok(env::var(TOKEN).ok()) };
    let text = fs::read_to_string(&file);
    text.map(Some).with_context(|| format!("{TOKEN_FILE}: {}", file.display())).exit_with(Code::Usage)
}
