//! Copies of the engine's state for the HTTP thread, made piece by piece on the engine's thread.
//!
//! A copy has the requested lists, and of transfers only those that have changed since the last copy. Who needs some items
//! of a long list requests a part of it. Pieces alternate with turns of the OpenFlow connections, so that no packet waits
//! for more than one piece of each.

use std::time::Duration;

use crate::engine::Engine;

mod copy;
mod lists;
mod part;
mod progress;

pub(crate) use copy::{ConnectedSwitch, CopyRequest, StateCopy, Totals, TransferChanges};
pub(crate) use lists::{List, Lists, MAX_FIRST_LINKS};
pub(crate) use part::{Copied, Keyed, Part, PartRequest, request_part};
pub(crate) use progress::CopyInProgress;

/// Something that the engine copies piece by piece.
pub(crate) trait Piecewise {
    /// Copies one more piece. Returns whether it was the last.
    fn step(&mut self, engine: &mut Engine) -> bool;

    /// Answers the request with the copy, which took the engine this long.
    fn finish(self: Box<Self>, took: Duration);
}
