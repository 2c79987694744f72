//! What switches have of an earlier controller, read back from them: what is still true is taken over, the rest mended.

mod installed;
mod reconcile;

pub(crate) use installed::{BothWays, InstalledState, first_hop, highest, label_of, port_of};
pub(crate) use reconcile::{Restoring, restoring};
