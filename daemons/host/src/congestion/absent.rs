//! The stand-in for coupled congestion control in a build without BPF programs.

use braid_congestion::Algorithm;

use super::CongestionError;

/// The type of loaded programs in a build without BPF.
#[derive(Debug)]
pub(super) enum Registration {}

impl Registration {
    pub(super) fn load(_: Algorithm, _: Option<&str>) -> Result<Self, CongestionError> {
        let remedy = "build with clang installed, and without --no-default-features";
        Err(CongestionError::lacks("programs for the kernel", remedy))
    }
}
