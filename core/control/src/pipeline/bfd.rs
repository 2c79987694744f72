//! BFD at the ports of edges.

use braid_edge_protocol::extension::Extension;
use braid_openflow::{EncodeError, Xid};
use braid_types::PortNo;

use super::spray::encode;

/// Lets an edge answer BFD at a port, or not.
pub(crate) fn encode_bfd(port: PortNo, is_on: bool, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    encode(&Extension::SetBfd { port, is_on }, xid, out)
}
