//! Where a site is: an address, or a host name that may lead to another one later.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// RFC 1035 §2.3.4.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// Where a site is dialled.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Destination {
    /// At an address and a port.
    Address(SocketAddr),
    /// Where a host name leads.
    Name {
        /// The name.
        host: String,
        /// The port there.
        port: u16,
    },
}

impl Destination {
    /// An address or a name, with its port unless it is the default one.
    pub(super) fn parse(text: &str, default_port: u16) -> Option<Self> {
        let address = text.parse().ok();
        let address = address.or_else(|| Some(SocketAddr::new(text.parse::<IpAddr>().ok()?, default_port)));
        if let Some(address) = address {
            return Some(Self::Address(address));
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0)?),
            None => (text, default_port),
        };
        is_host_name(host).then(|| Self::Name { host: host.to_owned(), port })
    }

    /// The address, unless a name has to be resolved.
    pub(crate) const fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Address(address) => Some(*address),
            Self::Name { .. } => None,
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// Whether this can be a name and is no address with a mistake: the last part of a name is no number. RFC 1123 §2.1.
fn is_host_name(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    text.len() <= MAX_NAME
        && text.split('.').all(is_label)
        && last.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_are_told_apart_and_mistakes_are_neither() {
        let parse = |text: &str| Destination::parse(text, 51_820).map(|it| it.to_string());
        let right = [
            ("198.51.100.1", "198.51.100.1:51820"),
            ("198.51.100.1:4000", "198.51.100.1:4000"),
            ("2001:db8::1", "[2001:db8::1]:51820"),
            ("[2001:db8::1]:7", "[2001:db8::1]:7"),
            ("box.example.org", "box.example.org:51820"),
            ("box-1.dyn.example.org.:4000", "box-1.dyn.example.org.:4000"),
            ("office", "office:51820"),
        ];
        for (text, wanted) in right {
            assert_eq!(parse(text).as_deref(), Some(wanted));
        }
        let long = format!("{}.org", "a".repeat(64));
        let wrong = [
            "",
            ".",
            "198.51.100",
            "198.51.100.1.2",
            "198.51.100.256",
            "box.example.org:0",
            "box:70000",
            "box.example.org:",
            "-box.org",
            "box..org",
            "b x.org",
            "https://box.org",
            "2001:db8::g",
            &long,
        ];
        for text in wrong {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
