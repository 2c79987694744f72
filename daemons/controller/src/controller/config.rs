//! What a controller is configured with, and what keeps it from starting.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use braid_control::Settings;

use crate::access::Access;
use crate::agents::Agents;
use crate::cluster::{ClusterConfig, ClusterError};
use crate::openflow_tls::OpenFlowTls;
use crate::ovsdb::{OvsdbAddress, OvsdbConfig};
use crate::policy::PolicyFile;
use crate::reload::Reload;
use crate::switch_access::SwitchAccess;
use crate::switch_metadata::{HostMetadata, SwitchMetadataMap};
use crate::tasks::TaskError;
use crate::testbed::Testbed;

/// The socket on which switches connect.
#[derive(Debug)]
pub enum Listen {
    /// A new socket on this address; port 0 takes any free one.
    Address(SocketAddr),
    /// A listening TCP socket inherited from the parent process.
    Inherited(OwnedFd),
}

/// The configuration of a controller.
#[derive(Debug)]
pub struct Config {
    /// The socket for switches.
    pub openflow: Listen,
    /// OpenFlow over TLS; `None`: plain TCP.
    pub openflow_tls: Option<OpenFlowTls>,
    /// The address for API clients and browsers.
    pub http: SocketAddr,
    /// Listening TCP sockets on which API clients are served as well.
    pub http_inherited: Vec<OwnedFd>,
    /// The file for a recording of every event.
    pub record: Option<PathBuf>,
    /// Host agents with their tokens.
    pub agents: Agents,
    /// Access of API clients: tokens and TLS.
    pub access: Access,
    /// The testbed that the network is, if any: its links can be changed.
    pub testbed: Option<Arc<dyn Testbed>>,
    /// The policy file; without one, the settings decide.
    pub policy: Option<PolicyFile>,
    /// What SIGHUP reads again; without it, the policy file.
    pub reload: Option<Box<dyn Reload>>,
    /// Which switches may join, and where from.
    pub switch_access: SwitchAccess,
    /// The controller's place in a cluster; `None`: it is alone.
    pub cluster: Option<ClusterConfig>,
    /// Names, groups and positions of switches.
    pub switch_metadata: SwitchMetadataMap,
    /// Names of hosts.
    pub host_metadata: HostMetadata,
    /// Open vSwitch's databases, in which BFD is set on the ports of links.
    pub ovsdb: OvsdbConfig,
    /// Settings of the brain; the key of discovery frames is replaced by a new one.
    pub settings: Settings,
}

impl Config {
    /// Checks who could reach the controller, without opening anything.
    ///
    /// # Errors
    ///
    /// Other machines could, and nothing restricts them.
    pub fn check(&self) -> Result<(), ControllerError> {
        if let Some(what) = self.access.lacks(self.http) {
            return Err(ControllerError::Open { address: self.http, what });
        }
        // Whoever opened an inherited socket has said so.
        if let Listen::Address(address) = self.openflow
            && !self.openflow_tls.as_ref().is_some_and(OpenFlowTls::is_required)
            && self.switch_access.is_open(address)
        {
            return Err(ControllerError::OpenToSwitches { address });
        }
        match self.ovsdb.over_tls().filter(|_| self.openflow_tls.is_none()) {
            Some(database) => Err(ControllerError::DatabaseWithoutTls { database: database.clone() }),
            None => Ok(()),
        }
    }
}

/// Errors that keep a controller from starting or running.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// A socket cannot be opened.
    #[error("cannot listen for {what} on {address}: {source}")]
    Listen {
        /// The peers: switches or API clients.
        what: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The address is reachable from other machines, and access is not restricted.
    #[error(
        "{address} is reachable from other machines and has no {what}: give --tokens, --tls-certificate and --tls-key, \
        or --http-trusted to trust everybody who can reach it"
    )]
    Open {
        /// The address of the API.
        address: SocketAddr,
        /// The missing protection.
        what: &'static str,
    },
    /// A database is spoken with over TLS, and there are no certificates.
    #[error("{database} needs certificates: give --openflow-tls with its files")]
    DatabaseWithoutTls {
        /// The database.
        database: OvsdbAddress,
    },
    /// Other machines can connect as switches without TLS, and nobody said that they are trusted.
    #[error(
        "{address} is reachable from other machines, and OpenFlow over plain TCP proves no switch's identity: give \
        --openflow-tls required with certificates, or --openflow-trusted to trust everybody who can reach it"
    )]
    OpenToSwitches {
        /// The address for switches.
        address: SocketAddr,
    },
    /// The inherited file descriptor is not a listening TCP socket.
    #[error("the inherited file descriptor is not a listening TCP socket: {0}")]
    Inherited(io::Error),
    /// The recording's file cannot be created.
    #[error("cannot record to {}: {source}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A part of the controller ended or panicked, so that it cannot go on.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The controller cannot become a member of its cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The operating system refused another call.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}
