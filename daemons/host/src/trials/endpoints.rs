//! Suspension where the path manager is the kernel's: by the flags of endpoints, as it knows no single subflows.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_api::SubflowEnds;
use braid_subflows::Change;

use super::Order;
use crate::diag::{Diag, SubflowInfo};
use crate::netlink::NetlinkError;
use crate::pm::{Endpoint, EndpointFlag, EndpointFlags, PathManager};

/// The endpoints whose subflows are suspended. An endpoint's flags apply to all of its subflows, so it is one whose
/// subflows all lead to the same peer.
#[derive(Debug)]
pub struct SuspendedEndpoints {
    kernel: PathManager,
    diag: Diag,
    suspended: BTreeMap<u8, Order>,
}

/// Why a subflow cannot be suspended.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The kernel refuses.
    #[error(transparent)]
    Kernel(#[from] NetlinkError),
    /// Its local address is no endpoint.
    #[error("{0} is not an endpoint")]
    None(IpAddr),
    /// Connections to other peers use the endpoint.
    #[error("connections to other peers use endpoint {0}, too")]
    Shared(IpAddr),
}

impl SuspendedEndpoints {
    /// For the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// The kernel has no MPTCP, or does not tell of its sockets.
    pub fn open() -> Result<Self, NetlinkError> {
        Ok(Self { kernel: PathManager::open()?, diag: Diag::open()?, suspended: BTreeMap::new() })
    }

    /// Suspends or resumes the endpoint of a subflow.
    ///
    /// # Errors
    ///
    /// The subflow has no endpoint, or none for its peer alone.
    pub fn carry_out(&mut self, order: Order) -> Result<(), EndpointError> {
        let (Change::Suspend(ends) | Change::Resume(ends)) = order.change;
        let endpoint = self.endpoint(ends)?;
        match order.change {
            Change::Suspend(_) => {
                if is_shared(&self.diag.subflows()?, ends) {
                    return Err(EndpointError::Shared(endpoint.address));
                }
                self.kernel.set_endpoint_flags(endpoint.id, with_backup(endpoint.flags))?;
                self.suspended.insert(endpoint.id, order);
            }
            Change::Resume(_) => {
                self.suspended.remove(&endpoint.id);
                self.kernel.set_endpoint_flags(endpoint.id, without_backup(endpoint.flags))?;
            }
        }
        Ok(())
    }

    /// Resumes the endpoints that connections to other peers use by now, and returns why they were suspended.
    ///
    /// # Errors
    ///
    /// The kernel does not tell of its sockets.
    pub fn resume_shared(&mut self) -> Result<Vec<Order>, EndpointError> {
        if self.suspended.is_empty() {
            return Ok(Vec::new());
        }
        let subflows = self.diag.subflows()?;
        let shared = self.suspended.values().copied();
        let shared: Vec<Order> = shared.filter(|it| is_shared(&subflows, ends(it))).collect();
        for order in &shared {
            self.carry_out(Order { change: Change::Resume(ends(order)), ..*order })?;
        }
        Ok(shared)
    }

    fn endpoint(&mut self, ends: SubflowEnds) -> Result<Endpoint, EndpointError> {
        let local = ends.local;
        let is_its =
            |it: &Endpoint| it.address == local.ip() && it.port.is_none_or(|port| port == local.port());
        self.kernel.endpoints()?.into_iter().find(is_its).ok_or(EndpointError::None(local.ip()))
    }
}

fn ends(order: &Order) -> SubflowEnds {
    let (Change::Suspend(ends) | Change::Resume(ends)) = order.change;
    ends
}

/// Whether subflows from the same address lead to another peer.
fn is_shared(subflows: &[SubflowInfo], ends: SubflowEnds) -> bool {
    let mut same = subflows.iter().filter(|it| it.ends.local.ip() == ends.local.ip());
    same.any(|it| it.ends.remote.ip() != ends.remote.ip())
}

fn with_backup(flags: EndpointFlags) -> EndpointFlags {
    EndpointFlag::ALL.into_iter().filter(|it| flags.has(*it) || *it == EndpointFlag::Backup).collect()
}

fn without_backup(flags: EndpointFlags) -> EndpointFlags {
    EndpointFlag::ALL.into_iter().filter(|it| flags.has(*it) && *it != EndpointFlag::Backup).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_change_by_backup_alone() {
        let flags: EndpointFlags = [EndpointFlag::Subflow, EndpointFlag::Fullmesh].into_iter().collect();
        assert_eq!(with_backup(flags).to_string(), "subflow,backup,fullmesh");
        assert_eq!(without_backup(with_backup(flags)), flags);
    }
}
