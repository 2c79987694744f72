//! The addresses of a cluster's store, and whether it speaks TLS.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

const PLAIN: &str = "etcd://";
const ENCRYPTED: &str = "etcds://";

/// The store of a cluster: `etcd://HOST:PORT[,HOST:PORT...]`, or `etcds://...` over TLS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreUrl {
    pub(super) is_encrypted: bool,
    pub(super) endpoints: Vec<String>,
    /// Whether the text has a user. It is left out: errors about the text would show a password.
    pub(super) names_user: bool,
}

/// The text names no store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a store is etcd://HOST:PORT, or etcds://HOST:PORT over TLS, with several addresses as HOST:PORT,HOST:PORT"
)]
pub struct StoreUrlError;

impl StoreUrl {
    /// The first server on another machine.
    pub(super) fn remote(&self) -> Option<&str> {
        self.endpoints.iter().map(String::as_str).find(|it| !is_local(host_of(it)))
    }
}

/// The host of `HOST:PORT`, without brackets.
pub(super) fn host_of(endpoint: &str) -> &str {
    let host = endpoint.rsplit_once(':').map_or(endpoint, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Whether a host is this machine.
pub(super) fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback())
}

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(text: &str) -> Result<Self, StoreUrlError> {
        let encrypted = text.strip_prefix(ENCRYPTED);
        let rest = encrypted.or_else(|| text.strip_prefix(PLAIN)).ok_or(StoreUrlError)?;
        let is_address = |it: &str| {
            let is_host = |host: &str| !host.is_empty() && !host.contains(['/', '@', '?', '#', ' ']);
            it.rsplit_once(':').is_some_and(|(host, port)| is_host(host) && port.parse::<u16>().is_ok())
        };
        let after_user = |it: &str| it.rsplit_once('@').map_or(it, |(_, address)| address).to_owned();
        let endpoints: Vec<_> = rest.trim_end_matches('/').split(',').map(after_user).collect();
        let names_user = rest.contains('@');
        if !names_user && !endpoints.iter().all(|it| is_address(it)) {
            return Err(StoreUrlError);
        }
        Ok(Self { is_encrypted: encrypted.is_some(), endpoints, names_user })
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { ENCRYPTED } else { PLAIN };
        write!(f, "{scheme}{}", self.endpoints.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_its_addresses() {
        for text in ["etcd://127.0.0.1:2379", "etcd://a:1,b:2,[::1]:3", "etcds://a:1,b:2"] {
            assert_eq!(text.parse::<StoreUrl>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
        for text in
            ["", "127.0.0.1:2379", "http://a:1", "etcd://a", "etcd://a:1,", "etcds://u?a:1", "etcd://:1"]
        {
            assert_eq!(text.parse::<StoreUrl>(), Err(StoreUrlError), "{text}");
        }
    }

    #[test]
    fn a_user_in_the_address_is_noticed_and_never_shown() {
        for text in ["etcds://u:secret@a:1", "etcd://a:1,u:secret@b:2", "etcd://u:secret@"] {
            let url: StoreUrl = text.parse().expect("an error about it would show the password");
            assert!(url.names_user && !format!("{url} {url:?}").contains("secret"), "{url:?}");
        }
    }

    #[test]
    fn a_server_on_another_machine_is_found_among_local_ones() {
        let remote = |text: &str| text.parse::<StoreUrl>().expect("a store").remote().map(str::to_owned);
        assert_eq!(remote("etcd://127.0.0.1:1,localhost:2,[::1]:3"), None);
        assert_eq!(remote("etcd://127.0.0.1:1,[2001:db8::1]:2"), Some("[2001:db8::1]:2".to_owned()));
        assert_eq!(remote("etcd://localhost.example.net:1"), Some("localhost.example.net:1".to_owned()));
    }
}
