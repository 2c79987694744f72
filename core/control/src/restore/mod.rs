//! What switches have of an earlier controller, read back from them: what is still true is taken over, the rest mended.

mod installed;
mod reconcile;

use installed::{BothWays, first_hop, port_of};
pub(crate) use installed::{InstalledState, highest, label_of};
pub(crate) use reconcile::{Restoring, restoring};
