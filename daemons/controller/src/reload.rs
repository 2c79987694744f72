//! Reload of the configuration at SIGHUP.

use std::fmt::Debug;

use crate::policy::PolicyFile;

/// Reads a controller's configuration again.
pub trait Reload: Debug + Send {
    /// The configuration as it is now.
    ///
    /// # Errors
    ///
    /// The configuration has mistakes: their text. Then the last good one stays in use.
    fn reload(&mut self) -> Result<Reloaded, String>;
}

/// A configuration that was read again and checked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reloaded {
    /// The policy file, read again.
    pub policy: Option<PolicyFile>,
    /// Names of settings that differ from those in use and take effect at the next start.
    pub at_next_start: Vec<String>,
}

/// How reloads went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reloads {
    /// Those that found mistakes.
    pub(crate) failed: u64,
    /// Whether the last one did.
    pub(crate) last_failed: bool,
}

/// The policy file as it is now, where nothing else can change.
impl Reload for PolicyFile {
    fn reload(&mut self) -> Result<Reloaded, String> {
        let policy = Some(self.read_again().map_err(|error| error.to_string())?);
        Ok(Reloaded { policy, at_next_start: Vec::new() })
    }
}
