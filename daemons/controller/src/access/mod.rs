//! Who may ask what, and over what kind of connection.

mod reload;
mod tls;
mod tokens;

use std::net::{IpAddr, SocketAddr};

pub(crate) use reload::follow;
pub use tls::{Tls, TlsError};
pub use tokens::Tokens;

/// What somebody may do; each may do what those before it may.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// See everything.
    Read,
    /// Have paths set aside, and links measured.
    Use,
    /// Change what is steered how.
    Change,
}

/// How programs and browsers are let in. This machine may do everything without a token.
#[derive(Clone, Default, Debug)]
pub struct Access {
    /// Who may ask from elsewhere.
    pub tokens: Option<Tokens>,
    /// The controller's certificate; nothing: connections are not encrypted.
    pub tls: Option<Tls>,
    /// Whoever can connect is trusted: nothing has to be encrypted, and without tokens everybody has [`Right::Use`].
    pub trusted: bool,
}

impl Access {
    /// What is missing if others can connect to this address.
    pub(crate) fn lacks(&self, address: SocketAddr) -> Option<&'static str> {
        let is_open = !address.ip().to_canonical().is_loopback() && !self.trusted;
        match (is_open, &self.tokens, &self.tls) {
            (true, None, _) => Some("tokens"),
            (true, _, None) => Some("a certificate"),
            _ => None,
        }
    }

    /// What somebody may do who connects from this address and shows this token; nothing if the token is nobody's.
    pub(crate) fn of(&self, from: IpAddr, token: Option<&str>) -> Option<Right> {
        match (token, &self.tokens) {
            (Some(token), Some(tokens)) => tokens.right(token),
            // What agents on hosts show to be given advice.
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
        let text = "[[token]]\nname = \"a\"\ntoken = \"0123456789abcdef\"\nmay = \"read\"";
        let tokens = tokens.then(|| Tokens::parse(text).expect("a valid file"));
        Access { tokens, tls: None, trusted }
    }

    #[test]
    fn an_address_that_others_can_reach_needs_tokens_and_a_certificate() {
        let [here, away]: [SocketAddr; 2] = [(HERE, 1).into(), (AWAY, 1).into()];
        assert_eq!(access(false, false).lacks(here), None);
        assert_eq!(access(false, false).lacks(away), Some("tokens"));
        assert_eq!(access(false, true).lacks(away), Some("a certificate"));
        assert_eq!(access(true, false).lacks(away), None);
        assert_eq!(access(false, false).lacks("[::ffff:127.0.0.1]:1".parse().expect("an address")), None);
    }

    #[test]
    fn others_need_a_token_and_a_wrong_one_is_worse_than_none() {
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
