//! Kernel parameters (sysctl) of the calling thread's network namespace.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A kernel parameter cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot set {name} to {value}")]
pub struct SysctlError {
    name: String,
    value: String,
    #[source]
    source: io::Error,
}

/// A changed kernel parameter, restored when this value is dropped, in the namespace of the dropping thread.
#[derive(Debug)]
pub struct Setting {
    name: &'static str,
    former: String,
    ours: String,
}

impl Setting {
    /// Sets `name`, such as `net.ipv4.tcp_congestion_control`, to `value` for the lifetime of the result.
    ///
    /// # Errors
    ///
    /// The kernel has no such parameter, refuses the value, or this process lacks the privilege.
    pub fn change(name: &'static str, value: &str) -> Result<Self, SysctlError> {
        let failed = |source| SysctlError { name: name.to_owned(), value: value.to_owned(), source };
        let former = read(name).map_err(failed)?;
        fs::write(path(name), value).map_err(failed)?;
        // As the kernel writes it: between numbers it has tabs.
        let ours = read(name).map_err(failed)?;
        Ok(Self { name, former, ours })
    }

    /// The previous value.
    #[must_use]
    pub fn former(&self) -> &str {
        &self.former
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        // A value that another process has changed since stays.
        if read(self.name).is_ok_and(|now| now == self.ours)
            && let Err(error) = fs::write(path(self.name), &self.former)
        {
            tracing::warn!(name = self.name, value = %self.former, %error, "cannot restore a setting");
        }
    }
}

/// The parameter's value, without the newline.
///
/// # Errors
///
/// The kernel has no such parameter.
pub fn read(name: &str) -> io::Result<String> {
    Ok(fs::read_to_string(path(name))?.trim_end().to_owned())
}

fn path(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}
