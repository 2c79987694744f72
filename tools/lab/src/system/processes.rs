//! Processes of a lab, found and ended by a marker in their environment.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::error::LabError;

const PATIENCE: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(10);

/// Names one deployment of a lab, in the environment of every process that belongs to it.
///
/// A process can be found by it from the moment it exists, however the one that started it ended, and it cannot be
/// mistaken for a later one with the same number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Marker(String);

impl Marker {
    pub(crate) const VARIABLE: &str = "BRAID_LAB_MARKER";

    /// One that no other deployment has.
    pub(crate) fn fresh() -> Result<Self, LabError> {
        let path = "/proc/sys/kernel/random/uuid";
        let uuid = fs::read_to_string(path).map_err(|error| LabError::io(path, error))?;
        Ok(Self(uuid.trim().to_owned()))
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// The living processes that carry it, without the caller.
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

/// Ends every process that carries `marker`; how many there were.
pub(crate) fn kill_all(marker: &Marker) -> Result<usize, LabError> {
    let found = marker.processes().len();
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let start = Instant::now();
        let mut told = Vec::new();
        while start.elapsed() < PATIENCE {
            let alive = marker.processes();
            if alive.is_empty() {
                return Ok(found);
            }
            for pid in alive.iter().filter(|pid| !told.contains(*pid)) {
                // It may have ended by itself since it was listed.
                let _ = kill(*pid, signal);
            }
            told = alive;
            thread::sleep(POLL);
        }
    }
    let left: Vec<_> = marker.processes().iter().map(ToString::to_string).collect();
    let cause = std::io::Error::other(format!("processes {} do not end", left.join(", ")));
    Err(LabError::io("removing the lab", cause))
}
