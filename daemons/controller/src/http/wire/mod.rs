//! What the core knows, as types of the API, as far as more than one route sends it.

mod notices;
mod paths;
mod policy;

pub(super) use notices::{level, notice, threat};
pub use paths::path_set;
pub(super) use policy::policies;
