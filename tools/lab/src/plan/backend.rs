//! The back-end of a link (token bucket, netem or user space), chosen by its parameters.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::scenario::Link;

/// The back-end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBackend {
    /// The kernel's token bucket: rate and queue.
    Tbf,
    /// The kernel's netem before a token bucket: delay, loss and reordering as well.
    Netem,
    /// Braid's link emulator in user space: all properties.
    UserSpace,
}

impl LinkBackend {
    /// The back-end for `link`; `netem` returns whether the kernel has netem, and is called only if that matters.
    pub(crate) fn of(link: &Link, netem: impl FnOnce() -> bool) -> Self {
        // netem reorders frames when there is jitter.
        let jitter = link.directions.iter().any(|direction| !direction.jitter.duration().is_zero());
        match link.emulated {
            false => Self::Tbf,
            true if !jitter && netem() => Self::Netem,
            true => Self::UserSpace,
        }
    }
}

impl fmt::Display for LinkBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tbf => "tbf",
            Self::Netem => "netem",
            Self::UserSpace => "user-space",
        })
    }
}
