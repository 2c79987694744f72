//! Conversions from the core's types to the API's, for those that several routes send.

mod notices;
mod paths;
mod policy;

pub(super) use notices::{evidence, level, loss, notice, peer, port, threat};
pub use paths::path_set;
pub(super) use policy::policies;
