//! Reasons for which coupled congestion control is unavailable.

use std::io;

use crate::sysctl::SysctlError;

/// Errors of loading a coupled congestion control.
#[derive(Debug, thiserror::Error)]
pub enum CongestionError {
    /// The machine or this process lacks a feature.
    #[error("coupled congestion control needs {what}, which is missing: {remedy}")]
    Lacks {
        /// The missing feature.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The kernel has all features and refuses the programs.
    #[error("the kernel refuses {what}")]
    Refused {
        /// The refused object.
        what: String,
        /// The reason.
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

    /// Whether the machine lacks a feature.
    #[must_use]
    pub const fn is_missing_feature(&self) -> bool {
        matches!(self, Self::Lacks { .. })
    }
}
