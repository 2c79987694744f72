//! The links of a running lab: their state and changes.

mod change;
mod growth;
mod process;
mod view;

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use change::edit_link;
pub use change::{LinkEdit, WhichLink};
pub(crate) use process::{connect, start};
pub(crate) use view::inspect;
pub use view::{LinkCounters, LinkEnd, LinkInspection};

/// The command of the link process, which reads a [`braid_link::Setup`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProcess {
    /// The program, which calls [`braid_link::serve`].
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}
