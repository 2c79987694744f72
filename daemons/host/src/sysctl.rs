//! Settings of the network namespace that the thread is in.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A setting cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot set {name} to {value}")]
pub struct SysctlError {
    name: String,
    value: String,
    #[source]
    source: io::Error,
}

/// A setting that has its former value again once this is dropped, in the namespace of the thread that drops it.
#[derive(Debug)]
pub struct Setting {
    name: &'static str,
    former: String,
    ours: String,
}

impl Setting {
    /// Gives `name`, such as `net.ipv4.tcp_congestion_control`, the value `value` for as long as this lives.
    ///
    /// # Errors
    ///
    /// The kernel has no such setting, refuses the value, or does not let this process change it.
    pub fn change(name: &'static str, value: &str) -> Result<Self, SysctlError> {
        let failed = |source| SysctlError { name: name.to_owned(), value: value.to_owned(), source };
        let former = read(name).map_err(failed)?;
        fs::write(path(name), value).map_err(failed)?;
        Ok(Self { name, former, ours: value.to_owned() })
    }

    /// What it was before.
    #[must_use]
    pub fn former(&self) -> &str {
        &self.former
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        // What somebody else has changed since is theirs.
        if read(self.name).is_ok_and(|now| now == self.ours)
            && let Err(error) = fs::write(path(self.name), &self.former)
        {
            tracing::warn!(name = self.name, value = %self.former, %error, "cannot restore a setting");
        }
    }
}

/// The setting's value, without the end of its line.
///
/// # Errors
///
/// The kernel has no such setting.
pub fn read(name: &str) -> io::Result<String> {
    Ok(fs::read_to_string(path(name))?.trim_end().to_owned())
}

fn path(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}
