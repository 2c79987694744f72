//! The links of a lab while it is up: which there are, what they are like, and how they are changed.

mod change;
mod process;
mod view;

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use change::edit_link;
pub use change::{LinkEdit, WhichLink};
pub(crate) use process::{connect, start};
pub(crate) use view::inspect;
pub use view::{LinkCounters, LinkEnd, LinkInspection};

/// What is started to pass the frames of links in user space, with a [`braid_link::Setup`] as its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProcess {
    /// The program, which calls [`braid_link::serve`].
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}
