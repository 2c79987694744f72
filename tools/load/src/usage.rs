//! What a process has used of the machine, and the limit of open files.

use std::fs;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a process has used so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// The time that its threads have had a core.
    pub on_core: Duration,
    /// Bytes of memory that it has now.
    pub memory: u64,
    /// The most bytes of memory that it ever had.
    pub peak_memory: u64,
}

impl Usage {
    /// What the process with this number has used; `None` if there is no such process.
    pub fn of(process: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilo| kilo * 1_024)
        };
        let (memory, peak_memory) = (bytes("VmRSS:")?, bytes("VmHWM:")?);
        Some(Self { on_core: on_core(process)?, memory, peak_memory })
    }

    /// What this process has used.
    pub fn own() -> Self {
        Self::of(std::process::id()).unwrap_or_default()
    }
}

fn on_core(process: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let times = tasks.flatten().filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Some(Duration::from_nanos(times.sum()))
}

/// Raises the limit of open files as far as the system allows; returns the limit. Each switch takes one.
pub fn raise_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    // If it cannot be raised, later connections fail.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
