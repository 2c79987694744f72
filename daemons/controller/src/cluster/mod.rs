//! A controller as a member of a cluster: elected over etcd, in touch with the other members.
//!
//! The protocol is `braid_cluster::Member`, which lives on the engine's thread: it makes progress only while that does. etcd
//! is asked by a thread of its own, and each connection with another member has one.

mod etcd;
mod handle;
mod json;
mod peers;
mod policy;
mod task;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::str::FromStr;

use braid_cluster::{Identity, MemberId};
use braid_types::Term;

use crate::clock;
use etcd::Etcd;

pub(crate) use handle::Handle;
pub(crate) use policy::Loaded;
pub(crate) use task::member;

/// The store of a cluster: `etcd://HOST:PORT[,HOST:PORT...]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreUrl {
    endpoints: Vec<String>,
}

/// The text names no store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a store is etcd://HOST:PORT, or several such addresses: etcd://HOST:PORT,HOST:PORT")]
pub struct StoreUrlError;

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(text: &str) -> Result<Self, StoreUrlError> {
        let rest = text.strip_prefix("etcd://").ok_or(StoreUrlError)?.trim_end_matches('/');
        let is_address = |it: &str| {
            let is_host = |host: &str| !host.is_empty() && !host.contains(['/', '@', '?', '#', ' ']);
            it.rsplit_once(':').is_some_and(|(host, port)| is_host(host) && port.parse::<u16>().is_ok())
        };
        let endpoints: Vec<_> = rest.split(',').map(str::to_owned).collect();
        if endpoints.iter().all(|it| is_address(it)) { Ok(Self { endpoints }) } else { Err(StoreUrlError) }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "etcd://{}", self.endpoints.join(","))
    }
}

/// The place of a controller in a cluster.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// The store that all members share.
    pub store: StoreUrl,
    /// The cluster's name: several may share a store.
    pub name: String,
    /// The member's name, unique in the cluster.
    pub member: String,
    /// The address on which other members connect.
    pub listen: SocketAddr,
    /// Every machine that can reach this address is trusted to be a member.
    pub trusted: bool,
}

/// A member before it serves.
#[derive(Debug)]
pub(crate) struct Joined {
    name: String,
    identity: Identity,
    etcd: Etcd,
    listener: TcpListener,
    address: SocketAddr,
    /// The key of discovery frames, the same for all members.
    pub(crate) lldp_key: [u8; 32],
}

/// A reason for which a controller cannot become a member.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The store does not answer, or refuses.
    #[error("the cluster's store {store} does not answer as it should: {why}")]
    Store {
        /// The store.
        store: StoreUrl,
        /// Why.
        why: String,
    },
    /// The address for members cannot be used.
    #[error("cannot listen for members of the cluster on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Other machines can connect as members, and nobody said that they are trusted.
    #[error(
        "{0} is reachable from other machines, and members prove no identity: give --cluster-trusted to trust every \
        machine that can reach it"
    )]
    Open(SocketAddr),
}

impl Joined {
    /// Opens the socket for members, and agrees with the others on the key of discovery frames. `secret` is the key if there
    /// is none yet.
    pub(crate) fn join(config: ClusterConfig, secret: [u8; 32], seed: u64) -> Result<Self, ClusterError> {
        let ClusterConfig { store, name, member, listen, trusted } = config;
        if !trusted && !listen.ip().to_canonical().is_loopback() {
            return Err(ClusterError::Open(listen));
        }
        let source = |source| ClusterError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).map_err(source)?;
        let address = listener.local_addr().map_err(source)?;
        let mut etcd = Etcd::new(&store.endpoints, &name);
        let failed =
            |why: etcd::EtcdError| ClusterError::Store { store: store.clone(), why: why.to_string() };
        let key = etcd.create_or_read("lldp-key", &hex::encode(secret)).map_err(failed)?;
        let mut lldp_key = [0; 32];
        hex::decode_to_slice(&key, &mut lldp_key).map_err(|_| ClusterError::Store {
            store: store.clone(),
            why: "its lldp-key is none".to_owned(),
        })?;
        etcd.put(&format!("members/{member}"), &address.to_string()).map_err(failed)?;
        let tag = u16::try_from(seed & 0xffff).unwrap_or_default();
        let first_term = Term(clock::generation());
        let identity = Identity { id: MemberId::new(member), tag, first_term, seed };
        Ok(Self { name, identity, etcd, listener, address, lldp_key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_its_addresses() {
        for text in ["etcd://127.0.0.1:2379", "etcd://a:1,b:2,[::1]:3"] {
            assert_eq!(text.parse::<StoreUrl>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
        for text in
            ["", "127.0.0.1:2379", "http://a:1", "etcd://a", "etcd://a:1,", "etcd://u:p@a:1", "etcd://:1"]
        {
            assert_eq!(text.parse::<StoreUrl>(), Err(StoreUrlError), "{text}");
        }
    }
}
