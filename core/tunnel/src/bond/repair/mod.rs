//! Repair of losses inside the tunnel: the receiver asks for packets that a path has skipped, the sender sends them again.

mod missing;
mod sent;

pub(super) use missing::Missing;
pub(super) use sent::Sent;
