//! The controller daemon: sockets, HTTP and metrics around the brain.
//!
//! One thread owns the brain and every OpenFlow connection, so that a packet-in is answered without passing
//! between threads; another serves HTTP from a copy of the first one's state.
//!
//! It takes no decisions: `braid-control` does.
//!
//! ```no_run
//! use braid_controller::{Config, Controller, Listen, Settings};
//!
//! let controller = Controller::bind(Config {
//!     openflow: Listen::Address("127.0.0.1:6653".parse()?),
//!     openflow_tls: None,
//!     http: "127.0.0.1:8653".parse()?,
//!     http_inherited: Vec::new(),
//!     record: None,
//!     agents: Default::default(),
//!     access: Default::default(),
//!     testbed: None,
//!     policy: None,
//!     reload: None,
//!     switch_access: Default::default(),
//!     cluster: None,
//!     switch_metadata: Default::default(),
//!     host_metadata: Default::default(),
//!     ovsdb: Default::default(),
//!     settings: Settings::default(),
//! })?;
//! println!("switches connect to {}", controller.openflow());
//! controller.serve_until_signalled(Box::new(|| {}))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod agents;
mod attention;
mod certificate_expiry;
mod channels;
mod clock;
mod cluster;
mod controller;
mod engine;
mod http;
mod log;
mod mastership;
mod names;
mod notices;
mod openflow_tls;
mod outstanding_rules;
mod ovsdb;
mod peer_limit;
mod policy;
mod rate;
mod reload;
mod state_copy;
mod switch_access;
mod switch_metadata;
mod tasks;
mod testbed;
mod token_table;

pub use access::{Access, HostNames, Right, Tls, Tokens};
pub use agents::Agents;
pub use braid_control::{HealthSettings, RebalanceSettings, Settings};
pub use cluster::{
    AdvertisedAddress, AdvertisedAddressError, ApiTrust, ClusterConfig, ClusterError, MemberTls,
    MemberTlsError, StoreAccess, StoreAccessError, StoreCredentials, StoreUrl, StoreUrlError,
};
pub use controller::{Config, Controller, ControllerError, Listen};
pub use http::{MetricFamily, MetricKind, Playback, SavedRun, path_set};
pub use openflow_tls::{
    IdentityFileError, OpenFlowTls, OpenFlowTlsError, SwitchIdentities, TlsMode, TlsModeError,
};
pub use ovsdb::{OvsdbAddress, OvsdbAddressError, OvsdbConfig};
pub use policy::{PolicyFile, PolicyFileError};
pub use reload::{Reload, Reloaded};
pub use switch_access::{AllowedSwitch, AllowedSwitchError, SWITCHES_PER_ADDRESS, SwitchAccess};
pub use switch_metadata::{HostMetadata, SwitchMetadata, SwitchMetadataMap};
pub use tasks::{TaskError, current_task};
pub use testbed::{Testbed, TestbedError};
pub use token_table::TokenFileError;
