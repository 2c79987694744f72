//! Helpers of the codec tests: message builders, golden files, re-encoding and external tools.

pub(crate) mod build;
pub(crate) mod golden;
pub(crate) mod rebuild;
pub(crate) mod tool;
