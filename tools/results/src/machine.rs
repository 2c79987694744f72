//! The commit that was measured, and the machine.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What was measured, and when.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// The commit of the sources, `unknown` outside of a checkout.
    pub commit: String,
    /// Whether tracked files differ from it.
    pub changed: bool,
    /// The release.
    pub version: String,
    /// Seconds since 1970 at its start.
    pub started: u64,
    /// The duration in seconds, of the attempt that counts.
    pub seconds: f64,
}

/// The machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The kernel's release.
    pub kernel: String,
    /// The distribution.
    pub system: String,
    /// The processor's name.
    pub processor: String,
    /// The number of processors.
    pub processors: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The kernel's default congestion control.
    pub default_control: String,
}

impl Provenance {
    /// Of the sources in `folder`, now.
    pub fn now(folder: &Path) -> Self {
        let commit = git(folder, &["rev-parse", "--short=12", "HEAD"]).filter(|it| !it.is_empty());
        let changes = git(folder, &["status", "--porcelain", "--untracked-files=no"]);
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        Self {
            commit: commit.unwrap_or_else(|| "unknown".to_owned()),
            changed: changes.is_some_and(|it| !it.is_empty()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            seconds: 0.0,
        }
    }

    /// Whether both are of the same sources, as far as a commit tells.
    pub fn is_of_the_same_sources(&self, other: &Self) -> bool {
        self.commit == other.commit && self.changed == other.changed
    }

    /// The commit, with a plus sign if files differ from it.
    pub fn name(&self) -> String {
        format!("{}{}", self.commit, if self.changed { "+" } else { "" })
    }
}

fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Machine {
    /// This one. What cannot be read is empty.
    pub fn this() -> Self {
        let memory =
            value(&read("/proc/meminfo"), "MemTotal:").and_then(|it| it.trim_end_matches(" kB").parse().ok());
        Self {
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            system: value(&read("/etc/os-release"), "PRETTY_NAME=")
                .unwrap_or_default()
                .trim_matches('"')
                .to_owned(),
            processor: value(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_default()
                .trim_matches([':', ' '])
                .to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory.map_or(0, |kilobytes: u64| kilobytes.saturating_mul(1_024)),
            default_control: read("/proc/sys/net/ipv4/tcp_congestion_control").trim().to_owned(),
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn value(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(|rest| rest.trim().to_owned())
}
