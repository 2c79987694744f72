//! Access control of the HTTP API: tokens, rights and TLS.

mod hosts;
mod reload;
mod tls;
mod tokens;

use std::net::{IpAddr, SocketAddr};

pub use hosts::HostNames;
pub(crate) use reload::follow;
pub use tls::Tls;
pub use tokens::Tokens;

/// An access right; each includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Read all state.
    Read,
    /// Create assignments, and have links measured.
    Use,
    /// Change the policy, and take switches over.
    Change,
}

/// Access of API clients and browsers. Clients on the controller's own machine need no token.
#[derive(Clone, Default, Debug)]
pub struct Access {
    /// Tokens of clients on other machines.
    pub tokens: Option<Tokens>,
    /// The controller's certificate; without one, connections are not encrypted.
    pub tls: Option<Tls>,
    /// Every client that can connect is trusted: TLS is not required, and without tokens every client has [`Right::Use`].
    pub trusted: bool,
    /// Names of the controller in requests.
    pub hosts: HostNames,
}

impl Access {
    /// The missing protection of an address that other machines can connect to.
    pub(crate) fn lacks(&self, address: SocketAddr) -> Option<&'static str> {
        let is_open = !address.ip().to_canonical().is_loopback() && !self.trusted;
        match (is_open, &self.tokens, &self.tls) {
            (true, None, _) => Some("tokens"),
            (true, _, None) => Some("a certificate"),
            _ => None,
        }
    }

    /// The right of a client with this address and token; `None` if the token is unknown.
    pub(crate) fn of(&self, from: IpAddr, token: Option<&str>) -> Option<Right> {
        match (token, &self.tokens) {
            (Some(token), Some(tokens)) => tokens.right(token),
            // Tokens of host agents, which are for advice.
            (Some(_), None) | (None, _) if from.to_canonical().is_loopback() => Some(Right::Change),
            (_, None) if self.trusted => Some(Right::Use),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn access(trusted: bool, tokens: bool) -> Access {
        let text = "[[token]]\nname = \"a\"\ntoken = \"0123456789abcdef\"\naccess = \"read\"";
        let tokens = tokens.then(|| Tokens::parse(text).expect("a valid file"));
        Access { tokens, trusted, ..Access::default() }
    }

    #[test]
    fn an_address_reachable_from_other_machines_needs_tokens_and_a_certificate() {
        let [here, away]: [SocketAddr; 2] = [(HERE, 1).into(), (AWAY, 1).into()];
        assert_eq!(access(false, false).lacks(here), None);
        assert_eq!(access(false, false).lacks(away), Some("tokens"));
        assert_eq!(access(false, true).lacks(away), Some("a certificate"));
        assert_eq!(access(true, false).lacks(away), None);
        assert_eq!(access(false, false).lacks("[::ffff:127.0.0.1]:1".parse().expect("an address")), None);
    }

    #[test]
    fn other_machines_need_a_token_and_a_wrong_one_is_refused() {
        let (right, wrong) = (Some("0123456789abcdef"), Some("0123456789abcdee"));
        assert_eq!(access(false, true).of(AWAY, right), Some(Right::Read));
        assert_eq!(access(false, true).of(AWAY, None), None);
        assert_eq!(access(true, true).of(AWAY, None), None);
        assert_eq!(access(false, true).of(HERE, None), Some(Right::Change));
        assert_eq!(access(false, true).of(HERE, wrong), None);
        assert_eq!(access(false, false).of(AWAY, wrong), None);
        assert_eq!(access(true, false).of(AWAY, None), Some(Right::Use));
    }
}
