//! Access to the operating system: tools, namespaces, processes.

mod buffers;
pub(crate) mod kernel;
mod namespace;
mod processes;
pub(crate) mod processors;
mod tool;

pub(crate) use buffers::{Buffers, enlarge_packet_sockets};
pub(crate) use namespace::Namespace;
pub use processes::MARKER_VARIABLE;
pub(crate) use processes::{Marker, kill_all};
pub(crate) use tool::{Tool, search_path};
