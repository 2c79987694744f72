//! Copies of the engine's state, made piece by piece on its thread for the thread that serves HTTP.
//!
//! A copy has the lists that were asked for, of transfers only those that have changed since the last copy. It is made in
//! turns with the OpenFlow connections, so that no packet waits for more than a piece of it.

mod copy;
mod items;
mod lists;
mod progress;

pub(crate) use copy::{ConnectedSwitch, CopyRequest, StateCopy, Totals, TransferChanges};
pub(crate) use items::{Copied, Items};
pub(crate) use lists::{List, Lists, item_lists};
pub(crate) use progress::Copying;
