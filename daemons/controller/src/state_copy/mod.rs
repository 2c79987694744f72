//! Copies of the engine's state for the HTTP thread, made piece by piece on the engine's thread.
//!
//! A copy has the requested lists, and of transfers only those that have changed since the last copy. Its pieces alternate
//! with turns of the OpenFlow connections, so that no packet waits for more than one piece.

mod copy;
mod items;
mod lists;
mod progress;

pub(crate) use copy::{ConnectedSwitch, CopyRequest, StateCopy, Totals, TransferChanges};
pub(crate) use items::{Copied, Items};
pub(crate) use lists::{List, Lists, MAX_FIRST_LINKS};
pub(crate) use progress::CopyInProgress;
