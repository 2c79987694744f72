//! A controller as a member of a cluster: elected over etcd, in touch with the other members.
//!
//! The protocol is `braid_cluster::Member`, which lives on the engine's thread: it makes progress only while that does. etcd
//! is asked by a thread of its own, and each connection with another member has one.

mod address;
mod assignments;
mod etcd;
mod facts;
mod fronts;
mod handle;
mod intents;
mod json;
mod peers;
mod policy;
mod registry;
mod stamps;
mod standing;
mod store_url;
mod task;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};

use braid_cluster::{Identity, MemberId, RunId, TermStamp};
use braid_types::Term;
use tracing::warn;

use crate::clock;
use etcd::{Etcd, EtcdError};
use peers::{Hello, Local};
use registry::{Record, Registry, RegistryError};

pub use address::{AdvertisedAddress, AdvertisedAddressError};
pub use etcd::{ApiTrust, StoreAccess, StoreAccessError, StoreCredentials};
pub(crate) use handle::Handle;
pub(crate) use peers::follow_certificates;
pub use peers::{MemberTls, MemberTlsError};
pub(crate) use policy::Loaded;
pub(crate) use standing::{LeaderApi, SharedStanding};
pub use store_url::{StoreUrl, StoreUrlError};
pub(crate) use task::member;

/// The place of a controller in a cluster.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// The store that all members share.
    pub store: StoreUrl,
    /// How it is reached.
    pub access: StoreAccess,
    /// The cluster's name: several may share a store.
    pub name: String,
    /// The member's name, unique in the cluster.
    pub member: String,
    /// The address on which other members connect.
    pub listen: SocketAddr,
    /// Where they reach it; `None`: at the address on which it listens.
    pub advertise: Option<AdvertisedAddress>,
    /// Every machine that can reach this address is trusted to be a member.
    pub trusted: bool,
    /// By which certificates members know each other; `None`: they do not, and what they say is not encrypted.
    pub tls: Option<MemberTls>,
    /// By whose certificates the APIs of other members are known, if these speak TLS.
    pub api_trust: Option<ApiTrust>,
}

/// The API of this member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnApi {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    pub(crate) has_tls: bool,
}

/// A member before it serves.
#[derive(Debug)]
pub(crate) struct Joined {
    name: String,
    identity: Identity,
    etcd: Etcd,
    listener: TcpListener,
    registry: Registry,
}

/// A reason for which a controller cannot become a member.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Another member makes this one impossible.
    #[error("cannot join the cluster: {0}")]
    Conflict(String),
    /// The store does not let this member in, or is not trusted.
    #[error("cannot use the cluster's store: {0}")]
    Denied(String),
    /// The address is that of no machine.
    #[error(
        "{0} is every address of this machine, so other members do not know where to connect: give \
        --cluster-advertise HOST:PORT, with a name or address of this machine that they reach"
    )]
    Wildcard(SocketAddr),
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
        "{0} is reachable from other machines, and members prove no identity: give --cluster-certificate, --cluster-key \
        and --cluster-ca, or --cluster-trusted to trust every machine that can reach it"
    )]
    Open(SocketAddr),
}

impl OwnApi {
    /// Where other members reach it; `None` if it is served on its own machine only, and they are on others.
    fn url(self, advertised: &AdvertisedAddress) -> Option<String> {
        let Self { address, has_tls } = self;
        let (scheme, ip, port) =
            (if has_tls { "https" } else { "http" }, address.ip().to_canonical(), address.port());
        match ip {
            _ if ip.is_unspecified() => Some(format!("{scheme}://{}:{port}", advertised.host())),
            _ if ip.is_loopback() && !advertised.is_local() => None,
            _ => Some(format!("{scheme}://{address}")),
        }
    }
}

impl Joined {
    /// What the terms of the cluster have in common.
    pub(crate) const fn stamp(&self) -> TermStamp {
        self.identity.stamp
    }

    /// The key of discovery frames, the same for all members.
    pub(crate) const fn lldp_key(&self) -> [u8; 32] {
        self.registry.key
    }

    /// By which certificates members know each other.
    pub(crate) fn tls(&self) -> Option<MemberTls> {
        self.registry.local.tls.clone()
    }

    /// The address on which other members connect.
    pub(crate) fn ip(&self) -> Option<IpAddr> {
        self.listener.local_addr().ok().map(|address| address.ip())
    }

    /// Opens the socket for members, and takes the member's place in the store. `secret` is the key of discovery frames if
    /// there is none yet. While the store does not answer the member has no place, and stands by.
    pub(crate) fn join(
        config: ClusterConfig,
        api: OwnApi,
        secret: [u8; 32],
        seed: u64,
    ) -> Result<Self, ClusterError> {
        let (listener, address) = listen(&config)?;
        let ClusterConfig { store, access, name, member, tls, .. } = config;
        let etcd = Etcd::new(&store, access, &name);
        let id = MemberId::new(member);
        let (run, stamp) = (RunId(seed), TermStamp::new(&name, &id));
        let mut registry = Registry {
            etcd: etcd.clone(),
            local: Local { hello: Hello::new(&name, &id, run), tls },
            record: Record::new(address.to_string(), run, api.url(&address)),
            key: secret,
            shared: registry::Shared::default(),
        };
        match registry.renew() {
            Ok(_) => {}
            Err(RegistryError::Conflict(why)) => return Err(ClusterError::Conflict(why)),
            Err(RegistryError::Store(EtcdError::Denied(why))) => return Err(ClusterError::Denied(why)),
            Err(RegistryError::Store(why)) => {
                warn!(%store, %why, "the cluster's store does not answer: this controller stands by until it does");
            }
        }
        let first_term = Term(clock::generation());
        let identity = Identity { id, run, stamp, first_term, seed };
        Ok(Self { name, identity, etcd, listener, registry })
    }
}

/// The socket for other members, and where they reach it.
fn listen(config: &ClusterConfig) -> Result<(TcpListener, AdvertisedAddress), ClusterError> {
    let address = config.listen;
    let is_safe = config.trusted || config.tls.is_some();
    if !is_safe && !address.ip().to_canonical().is_loopback() {
        return Err(ClusterError::Open(address));
    }
    let source = |source| ClusterError::Listen { address, source };
    let listener = TcpListener::bind(address).map_err(source)?;
    let bound = AdvertisedAddress::of_socket(listener.local_addr().map_err(source)?);
    let advertised = config.advertise.clone().or(bound).ok_or(ClusterError::Wildcard(address))?;
    Ok((listener, advertised))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(listen: &str, advertise: Option<&str>) -> ClusterConfig {
        ClusterConfig {
            // Nobody answers there.
            store: "etcd://127.0.0.1:1".parse().expect("a store"),
            access: StoreAccess::default(),
            name: "default".to_owned(),
            member: "a".to_owned(),
            listen: listen.parse().expect("an address"),
            advertise: advertise.map(|it| it.parse().expect("an address")),
            trusted: true,
            tls: None,
            api_trust: None,
        }
    }

    const API: OwnApi =
        OwnApi { address: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8653), has_tls: false };

    #[test]
    fn an_api_is_reached_where_it_listens_or_by_the_members_name() {
        let url = |api: &str, has_tls, member: &str| {
            let member = member.parse().expect("an address");
            OwnApi { address: api.parse().expect("an address"), has_tls }.url(&member)
        };
        assert_eq!(url("0.0.0.0:8653", true, "one:7653"), Some("https://one:8653".to_owned()));
        assert_eq!(
            url("[::]:8653", false, "[2001:db8::1]:7653"),
            Some("http://[2001:db8::1]:8653".to_owned())
        );
        assert_eq!(url("192.0.2.1:8653", false, "one:7653"), Some("http://192.0.2.1:8653".to_owned()));
        assert_eq!(url("127.0.0.1:8653", false, "one:7653"), None);
        assert_eq!(url("127.0.0.1:8653", false, "127.0.0.1:7653"), Some("http://127.0.0.1:8653".to_owned()));
    }

    #[test]
    fn a_member_that_listens_everywhere_has_to_say_where_it_is_reached() {
        let refused =
            Joined::join(config("0.0.0.0:0", None), API, [1; 32], 7).expect_err("no address for others");
        assert!(refused.to_string().contains("--cluster-advertise"), "{refused}");
        Joined::join(config("0.0.0.0:0", Some("one.example.net:7000")), API, [1; 32], 7).expect("an address");
    }

    #[test]
    fn a_member_starts_without_the_store_and_has_no_place_until_it_answers() {
        let joined = Joined::join(config("127.0.0.1:0", None), API, [1; 32], 7).expect("it stands by");
        assert_eq!(joined.lldp_key(), [1; 32]);
        assert!(!joined.registry.shared.is_registered.load(std::sync::atomic::Ordering::Relaxed));
    }
}
