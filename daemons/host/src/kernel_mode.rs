//! The path manager in the kernel, set up for as long as the agent runs.

use crate::netlink::NetlinkError;
use crate::pm::{Endpoint, Limits, PathManager};

/// The agent's limits and endpoints; dropping this value restores the previous ones.
#[derive(Debug)]
pub struct KernelMode {
    kernel: PathManager,
    former: Limits,
    added: Vec<Endpoint>,
}

impl KernelMode {
    /// Sets `limits` and adds `endpoints` to the existing ones.
    ///
    /// # Errors
    ///
    /// The kernel refuses one; then everything is restored.
    pub fn set(limits: Limits, endpoints: &[Endpoint]) -> Result<Self, NetlinkError> {
        let mut kernel = PathManager::open()?;
        let former = kernel.limits()?;
        kernel.set_limits(limits)?;
        let mut set = Self { kernel, former, added: Vec::new() };
        for endpoint in endpoints {
            set.kernel.add_endpoint(endpoint)?;
            set.added.push(endpoint.clone());
        }
        Ok(set)
    }

    fn restore(&mut self) -> Result<(), NetlinkError> {
        let is_ours = |there: &Endpoint| {
            self.added.iter().any(|ours| (ours.address, ours.port) == (there.address, there.port))
        };
        let ours: Vec<_> = self.kernel.endpoints()?.into_iter().filter(is_ours).collect();
        for endpoint in ours {
            self.kernel.remove_endpoint(endpoint.id)?;
        }
        self.kernel.set_limits(self.former)
    }
}

impl Drop for KernelMode {
    fn drop(&mut self) {
        if let Err(error) = self.restore() {
            tracing::warn!(%error, "cannot restore endpoints and limits");
        }
    }
}
