//! Copies of what the engine shows, made piece by piece on its thread, for the thread that serves programs.
//!
//! A copy has the lists that were asked for, of transfers only those that have changed since the last copy. It is made in
//! turns with the OpenFlow channels, so that no packet waits for more than a piece of it.

mod copy;
mod lists;
mod progress;

pub(crate) use copy::{ConnectedSwitch, CopyRequest, StateCopy, Totals, TransferChanges};
pub(crate) use lists::{List, Lists};
pub(crate) use progress::Copying;
