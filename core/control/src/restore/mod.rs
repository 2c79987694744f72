//! What switches have of an earlier controller, read back from them.

mod installed;

pub(crate) use installed::{BothWays, InstalledState, first_hop, highest, label_of, port_of};
