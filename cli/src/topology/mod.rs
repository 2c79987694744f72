//! Networks for commands: from files, generators and controllers, and what is to be told of them.

pub(crate) mod live;
pub(crate) mod source;
pub(crate) mod summary;
