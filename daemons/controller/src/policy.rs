//! Policy files: reading, checking, applying, and reloading at SIGHUP.

use std::fmt;
use std::path::{Path, PathBuf};

use braid_control::Event;
use braid_steering::{Policies, PolicyProblem};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

use crate::engine::Shared;

/// A policy file that has been read and checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyFile {
    path: PathBuf,
    text: String,
}

/// Errors of policy files.
#[derive(Debug)]
pub enum PolicyFileError {
    /// The file cannot be read.
    Read(PathBuf, std::io::Error),
    /// The file has invalid content.
    Content(PathBuf, Vec<PolicyProblem>),
}

impl PolicyFile {
    /// Reads the file and checks it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it has mistakes: all of them.
    pub fn read(path: &Path) -> Result<Self, PolicyFileError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| PolicyFileError::Read(path.to_owned(), error))?;
        let checked = Policies::parse(&text);
        checked.map_err(|problems| PolicyFileError::Content(path.to_owned(), problems))?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Applies the file now, and again at each SIGHUP; a file with mistakes changes nothing.
pub(crate) async fn follow(engine: Shared, file: Option<PolicyFile>) {
    if let Some(file) = &file {
        set(&engine, file.text.clone());
    }
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => {
            error!(%error, "cannot install a handler for SIGHUP: the policy will not be reloaded");
            return std::future::pending().await;
        }
    };
    while hangups.recv().await.is_some() {
        let Some(file) = &file else {
            info!("SIGHUP: no policy file was given (--policy), so no policy is reloaded");
            continue;
        };
        match PolicyFile::read(&file.path) {
            Ok(file) => {
                info!(file = %file.path.display(), "policy reloaded");
                set(&engine, file.text);
            }
            Err(error) => error!("policy not reloaded, the old one stays in use:\n{error}"),
        }
    }
}

/// Applies a policy that has been checked.
pub(crate) fn set(engine: &Shared, text: String) {
    let mut engine = engine.borrow_mut();
    let now = engine.now();
    engine.handle(now, &Event::Policy { text });
}

/// One line for each problem, in the form of compilers.
impl fmt::Display for PolicyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "cannot read the policy {}: {error}", path.display()),
            Self::Content(path, problems) => {
                let lines: Vec<_> = problems.iter().map(|it| format!("{}:{it}", path.display())).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

impl std::error::Error for PolicyFileError {}
