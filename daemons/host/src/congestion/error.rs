//! Reasons for which coupled congestion control is unavailable.

use std::io;

use crate::sysctl::SysctlError;

/// Why a coupled congestion control cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum CongestionError {
    /// The machine or this process lacks something.
    #[error("coupled congestion control needs {what}, which is not here: {remedy}")]
    Lacks {
        /// What is missing.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The kernel has all it takes and still does not take the programs.
    #[error("the kernel does not take {what}")]
    Refused {
        /// What it does not take.
        what: String,
        /// Its reason.
        #[source]
        reason: io::Error,
    },
    /// The namespace's default cannot be set.
    #[error(transparent)]
    Default(#[from] SysctlError),
}

impl CongestionError {
    pub(crate) fn lacks(what: impl Into<String>, remedy: &'static str) -> Self {
        Self::Lacks { what: what.into(), remedy }
    }

    /// Whether it is the machine that lacks a feature.
    #[must_use]
    pub const fn is_lack(&self) -> bool {
        matches!(self, Self::Lacks { .. })
    }
}
