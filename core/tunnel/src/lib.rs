//! Encrypted tunnels between sites over several uplinks, without I/O.
//!
//! [`Endpoint`] keeps a session for each pair of uplinks: a Noise IK handshake, new keys every two minutes, a replay window,
//! addresses that may change, and the longest datagram that passes. [`Bond`] spreads packets over the paths of one peer and
//! puts them back in order, each flow by numbers of its own, by [`braid_spray`]. [`Traffic`] says which packets are urgent
//! and go by the quickest path, or by two at once. [`Site`] is both, for a whole site: packets
//! of the local network in, datagrams out, and the reverse.
//!
//! Nothing here opens a socket, reads a clock or draws random numbers: uplinks are numbers, time and seeds are arguments.
//! What strangers send costs at most a few hashes, and no memory. Names of files and devices are the daemon's.
//!
//! ```
//! use braid_tunnel::{Dial, Endpoint, Peer, PrivateKey};
//! use braid_types::Time;
//!
//! let [left, right] = [1, 2].map(|byte| PrivateKey::new([byte; 32]));
//! let dial = Dial { uplink: 0, address: "192.0.2.1:51820".parse().ok() };
//! let peer = Peer { key: right.public(), dials: vec![dial] };
//! let mut endpoint = Endpoint::new(Time::ZERO, left, &[peer], [3; 32]);
//! endpoint.handle_timeout(Time::ZERO);
//! assert_eq!(endpoint.poll_transmit().map(|it| it.to), dial.address);
//! ```

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod bond;
mod buffers;
mod content;
mod cookie;
mod endpoint;
mod keys;
mod noise;
mod path;
mod replay;
mod session;
mod site;
mod traffic;
mod wire;

pub use bond::{Bond, BondCounters, PathReport, PathShare, UplinkSettings};
pub use endpoint::{Dial, Endpoint, Event, MAX_PATHS, PathRef, PathStatus, Peer, Refused, Transmit};
pub use keys::{KeyError, PrivateKey, PublicKey};
pub use noise::Suite;
pub use site::{Lan, PeerStatus, Site, SiteCounters, SiteSettings};
pub use traffic::{PathChoice, Traffic, TrafficRule};
