//! One box of a site: encrypted tunnels over all of its uplinks to other sites, without a controller.
//!
//! [`Config`] is a site's file, checked before anything is opened. [`SiteDaemon`] moves packets between the local network
//! (a TUN, or a TAP in a bridge or a switch) and the sockets of the uplinks. What to send where, and when, is decided by
//! [`braid_tunnel::Site`]. [`status`] asks a running site how it is. A site with `nat` translates addresses towards the
//! Internet, and one with `metrics` serves Prometheus.
//!
//! It speaks no OpenFlow, and knows no controller: that is `braid edge`.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use braid_site::{Config, SiteDaemon};
//!
//! let file = Path::new("site.toml");
//! SiteDaemon::new(&Config::read(file)?)?.run_until_signalled(file, &mut || {})?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod daemon;
mod error;
mod key_file;
mod lan;
mod metrics;
mod names;
mod nat;
mod status;
mod suite;
mod uplinks;

pub use config::{Config, ConfigError, Destination, DialConfig, LanConfig, PeerConfig, UplinkConfig};
pub use daemon::SiteDaemon;
pub use error::SiteError;
pub use key_file::{generate, read as read_key, write_new};
pub use status::{PathDocument, PeerDocument, StatusDocument, UplinkDocument, status};
