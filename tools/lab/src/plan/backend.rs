//! The back-end of a link (token bucket, netem or user space), chosen by its parameters.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::scenario::Link;

/// What makes a link what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBackend {
    /// The kernel's token bucket: rate and queue.
    Tbf,
    /// The kernel's netem before a token bucket: delay, loss and reordering as well.
    Netem,
    /// A process that passes the frames: everything.
    UserSpace,
}

impl LinkBackend {
    /// The one for `link`; `netem` says whether the kernel has it, and is asked only if that matters.
    pub(crate) fn of(link: &Link, netem: impl FnOnce() -> bool) -> Self {
        // netem lets frames overtake each other where there is jitter.
        let jitter = link.ways.iter().any(|way| !way.jitter.duration().is_zero());
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
