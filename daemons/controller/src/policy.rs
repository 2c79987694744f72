//! Policy files: reading, checking, applying, and reloading at SIGHUP.

use std::fmt;
use std::path::{Path, PathBuf};

use braid_control::Event;
use braid_steering::{Policies, PolicyProblem};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info, warn};

use crate::engine::Shared;
use crate::reload::{Reload, Reloaded};

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

    /// Checks the text of a policy.
    ///
    /// # Errors
    ///
    /// All of its mistakes, a line each.
    pub fn check(text: &str) -> Result<(), String> {
        let lines =
            |problems: Vec<PolicyProblem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>();
        Policies::parse(text).map(drop).map_err(|problems| lines(problems).join("\n"))
    }

    pub(crate) fn read_again(&self) -> Result<Self, PolicyFileError> {
        Self::read(&self.path)
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Applies the file now, and at each SIGHUP what the configuration says then; one with mistakes changes nothing.
pub(crate) async fn follow(engine: Shared, mut file: Option<PolicyFile>, reload: Option<Box<dyn Reload>>) {
    if let Some(file) = &file {
        set(&engine, file.text.clone());
    }
    let own = || file.clone().map(|file| Box::new(file) as Box<dyn Reload>);
    let mut reload = reload.or_else(own);
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => {
            error!(%error, "cannot install a handler for SIGHUP: the policy will not be reloaded");
            return std::future::pending().await;
        }
    };
    while hangups.recv().await.is_some() {
        let Some(reload) = &mut reload else {
            info!(
                "SIGHUP: neither a policy file (--policy) nor a configuration (--config) was given, so neither is reloaded"
            );
            continue;
        };
        let reloaded = reload.reload();
        engine.borrow_mut().note_reload(reloaded.is_err());
        match reloaded {
            Ok(reloaded) => apply(&engine, &mut file, reloaded),
            Err(error) => {
                error!("not reloaded, the last good configuration and policy stay in use:\n{error}");
            }
        }
    }
}

fn apply(engine: &Shared, file: &mut Option<PolicyFile>, reloaded: Reloaded) {
    if !reloaded.at_next_start.is_empty() {
        warn!(settings = reloaded.at_next_start.join(", "), "these settings take effect at the next start");
    }
    match (&reloaded.policy, file.as_ref()) {
        (Some(policy), _) => {
            info!(file = %policy.path.display(), "policy reloaded");
            set(engine, policy.text.clone());
        }
        (None, Some(_)) => {
            info!("the configuration names no policy any more: the settings decide");
            set(engine, String::new());
        }
        // A policy that came by the API stays.
        (None, None) => {}
    }
    *file = reloaded.policy;
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

impl std::error::Error for PolicyFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(_, error) => Some(error),
            Self::Content(..) => None,
        }
    }
}
