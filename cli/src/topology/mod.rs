//! Networks for commands, from files, generators and controllers, and their figures.

pub(crate) mod live;
pub(crate) mod source;
pub(crate) mod summary;
