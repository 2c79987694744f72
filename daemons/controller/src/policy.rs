//! Policy files: read, checked, applied, and read again at SIGHUP.

use std::fmt;
use std::path::{Path, PathBuf};

use braid_control::Event;
use braid_steering::{Policies, PolicyProblem};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

use crate::engine::Shared;

/// A policy file that was read and checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyFile {
    path: PathBuf,
    text: String,
}

/// Why a policy file cannot be used.
#[derive(Debug)]
pub enum PolicyFileError {
    /// It cannot be read.
    Read(PathBuf, std::io::Error),
    /// It does not say what it should.
    Content(PathBuf, Vec<PolicyProblem>),
}

impl PolicyFile {
    /// Reads the file and checks it.
    ///
    /// # Errors
    ///
    /// It cannot be read, or every problem in it.
    pub fn read(path: &Path) -> Result<Self, PolicyFileError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| PolicyFileError::Read(path.to_owned(), error))?;
        let checked = Policies::parse(&text);
        checked.map_err(|problems| PolicyFileError::Content(path.to_owned(), problems))?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Has the engine steer by the file, and by what has become of it at each SIGHUP; one with mistakes changes nothing.
pub(crate) async fn follow(engine: Shared, file: Option<PolicyFile>) {
    if let Some(file) = &file {
        set(&engine, file.text.clone());
    }
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => return error!(%error, "SIGHUP cannot be caught: the policy stays as it is"),
    };
    while hangups.recv().await.is_some() {
        let Some(file) = &file else {
            info!("SIGHUP: there is no policy file to read again");
            continue;
        };
        match PolicyFile::read(&file.path) {
            Ok(file) => {
                info!(file = %file.path.display(), "the policy was read again");
                set(&engine, file.text);
            }
            Err(error) => error!("the policy stays as it is:\n{error}"),
        }
    }
}

/// Has the engine steer by a policy that was checked.
pub(crate) fn set(engine: &Shared, text: String) {
    let mut engine = engine.borrow_mut();
    let now = engine.now();
    engine.handle(now, &Event::Policy { text });
}

/// A line for each problem, as compilers have them.
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
