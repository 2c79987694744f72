//! Access to the operating system: tools, namespaces, processes.

mod buffers;
mod namespace;
mod processes;
mod tool;

pub(crate) use buffers::{Buffers, enlarge_packet_sockets};
pub(crate) use namespace::Namespace;
pub(crate) use processes::{Marker, kill_all};
pub(crate) use tool::{Tool, search_path};
