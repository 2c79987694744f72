//! The build that was measured, and the machine.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What was measured, and when.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// The commit of the sources, `unknown` outside of a checkout.
    pub commit: String,
    /// Whether tracked files differ from it.
    pub changed: bool,
    /// The first bytes of the SHA-256 of the program that measured, in hexadecimal; empty if it is not known.
    #[serde(default)]
    pub binary: String,
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
    /// Of this program and the sources in `folder`, now.
    pub fn now(folder: &Path) -> Self {
        let commit = git(folder, &["rev-parse", "--short=12", "HEAD"]).filter(|it| !it.is_empty());
        let changes = git(folder, &["status", "--porcelain", "--untracked-files=no"]);
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        Self {
            commit: commit.unwrap_or_else(|| "unknown".to_owned()),
            changed: changes.is_some_and(|it| !it.is_empty()),
            binary: digest_of(Path::new("/proc/self/exe")).unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            seconds: 0.0,
        }
    }

    /// Whether both are of the same program. A commit tells little of it: it may change prose alone, or not be built yet.
    pub fn is_of_the_same_build(&self, other: &Self) -> bool {
        if self.binary.is_empty() || other.binary.is_empty() {
            return self.commit == other.commit && self.changed == other.changed;
        }
        self.binary == other.binary
    }

    /// The commit, with a plus sign if files differ from it.
    pub fn name(&self) -> String {
        format!("{}{}", self.commit, if self.changed { "+" } else { "" })
    }
}

fn digest_of(file: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (fs::File::open(file)?, Sha256::new());
    io::copy(&mut file, &mut HashWriter(&mut hash))?;
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_of_another_program_whatever_the_commit_says_and_of_the_same_whatever_was_written_since() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let now = Provenance::now(folder);
        assert_eq!(now.binary.len(), 16, "{}", now.binary);
        assert_eq!(now.binary, Provenance::now(folder).binary);
        let later = Provenance { commit: "later".to_owned(), ..now.clone() };
        let other = Provenance { binary: "0123456789abcdef".to_owned(), ..now.clone() };
        assert!(now.is_of_the_same_build(&later) && !now.is_of_the_same_build(&other));
        let [old, unknown] = ["1", "2"].map(|commit| Provenance {
            binary: String::new(),
            commit: commit.to_owned(),
            ..now.clone()
        });
        assert!(old.is_of_the_same_build(&old) && !old.is_of_the_same_build(&unknown));
    }
}
