//! Processes of a lab, found and ended by a marker in their environment.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::error::LabError;

const KILL_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The marker of a lab's deployment in the environment of all of its processes.
///
/// A process can be found by it from its first moment, even if its parent was killed, and is never confused with a later
/// process with the same id.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Marker(String);

/// The environment variable that every process of a lab has.
pub const MARKER_VARIABLE: &str = "BRAID_LAB_MARKER";

impl Marker {
    pub(crate) const VARIABLE: &str = MARKER_VARIABLE;

    /// A unique marker.
    pub(crate) fn fresh() -> Result<Self, LabError> {
        let path = "/proc/sys/kernel/random/uuid";
        let uuid = fs::read_to_string(path).map_err(|error| LabError::io(path, error))?;
        Ok(Self(uuid.trim().to_owned()))
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// The running processes with this marker, without the caller.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let entry = format!("{}={}", Self::VARIABLE, self.0);
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = numbers.filter_map(|it| it.file_name().to_str()?.parse().ok()).map(Pid::from_raw);
        pids.filter(|pid| *pid != Pid::this() && carries(*pid, entry.as_bytes())).collect()
    }
}

// A zombie's environment reads as empty.
fn carries(pid: Pid, entry: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|it| it == entry)
}

/// Kills every process with `marker`. Returns their number.
pub(crate) fn kill_all(marker: &Marker) -> Result<usize, LabError> {
    let found = marker.processes().len();
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let start = Instant::now();
        let mut told = Vec::new();
        while start.elapsed() < KILL_TIMEOUT {
            let alive = marker.processes();
            if alive.is_empty() {
                return Ok(found);
            }
            for pid in alive.iter().filter(|pid| !told.contains(*pid)) {
                // The process may have ended since the listing.
                let _ = kill(*pid, signal);
            }
            told = alive;
            thread::sleep(POLL_INTERVAL);
        }
    }
    let left: Vec<_> = marker.processes().iter().map(ToString::to_string).collect();
    let cause = std::io::Error::other(format!("processes {} do not end", left.join(", ")));
    Err(LabError::io("removing the lab", cause))
}
