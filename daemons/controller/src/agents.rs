use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;

use braid_control::Asker;
use braid_types::IpPrefix;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// What is shorter can be guessed.
const SHORTEST_TOKEN: usize = 16;

/// The agents that have a token, and whose addresses each of them may ask about.
#[derive(Clone, Default)]
pub struct Agents {
    /// By the hash of the token, so that a comparison takes as long whatever is wrong.
    by_hash: BTreeMap<[u8; 32], Agent>,
}

#[derive(Clone)]
struct Agent {
    name: String,
    addresses: Option<Vec<IpPrefix>>,
}

/// Why there are no agents.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// The file cannot be read.
    #[error("cannot read agents from {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// It does not say what it should.
    #[error("{file}: {reason}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong, and where.
        reason: String,
    },
}

/// As the file says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    agent: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    token: String,
    addresses: Option<Vec<IpPrefix>>,
}

impl Agents {
    /// Reads a TOML file: `[[agent]]` with `name`, `token`, and `addresses` if it may ask about more than the host that
    /// it runs on.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has something else in it, a token twice, or one of less than 16 characters.
    pub fn read(path: &Path) -> Result<Self, AgentsError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|source| AgentsError::Read { file: file.clone(), source })?;
        Self::parse(&text).map_err(|reason| AgentsError::Content { file, reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        // The text is left out of what is said: there are tokens in it.
        let place = |error: &toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
        };
        let file: File =
            toml::from_str(text).map_err(|it| format!("line {}: {}", place(&it), it.message()))?;
        let mut agents = Self::default();
        for Entry { name, token, addresses } in file.agent {
            if token.trim().len() < SHORTEST_TOKEN {
                return Err(format!("agent {name:?}: its token has less than {SHORTEST_TOKEN} characters"));
            }
            let agent = Agent { name: name.clone(), addresses };
            if let Some(other) = agents.by_hash.insert(hash(token.trim()), agent) {
                return Err(format!("agents {:?} and {name:?} have the same token", other.name));
            }
        }
        Ok(agents)
    }

    /// Who asks, from this address and with this token; `None` if that is nobody.
    ///
    /// Without a token the controller's own machine may ask about everybody, and if nobody has one each host about
    /// itself.
    pub(crate) fn identify(&self, from: IpAddr, token: Option<&str>) -> Option<Asker> {
        let from = from.to_canonical();
        match token {
            Some(token) => {
                let agent = self.by_hash.get(&hash(token.trim()))?;
                Some(agent.addresses.clone().map_or(Asker::Host(from), Asker::Owner))
            }
            None if from.is_loopback() => Some(Asker::Trusted),
            None if self.by_hash.is_empty() => Some(Asker::Host(from)),
            None => None,
        }
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Without tokens.
impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_hash.values().map(|agent| &agent.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [[agent]]
        name = "ams"
        token = "0123456789abcdef"
        addresses = ["10.0.1.1", "10.0.2.0/24"]

        [[agent]]
        name = "gva"
        token = "fedcba9876543210"
    "#;

    fn ip(last: u8) -> IpAddr {
        [10, 0, 1, last].into()
    }

    #[test]
    fn a_token_says_about_whom_somebody_may_ask() {
        let agents = Agents::parse(FILE).expect("a valid file");
        let prefixes = ["10.0.1.1", "10.0.2.0/24"].map(|it| it.parse().expect("a prefix")).to_vec();
        assert_eq!(agents.identify(ip(9), Some("0123456789abcdef")), Some(Asker::Owner(prefixes)));
        assert_eq!(agents.identify(ip(9), Some("fedcba9876543210\n")), Some(Asker::Host(ip(9))));
        assert_eq!(agents.identify(ip(9), Some("0123456789abcdee")), None);
        assert_eq!(agents.identify(ip(9), None), None);
        let loopback = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(agents.identify(loopback, None), Some(Asker::Trusted));
        assert_eq!(agents.identify(loopback, Some("wrong")), None, "a wrong token is worse than none");
    }

    #[test]
    fn where_nobody_has_a_token_hosts_ask_about_themselves() {
        let mapped = "::ffff:10.0.1.9".parse().expect("an address");
        assert_eq!(Agents::default().identify(mapped, None), Some(Asker::Host(ip(9))));
        assert_eq!(Agents::default().identify(ip(9), Some("")), None);
    }

    #[test]
    fn what_is_wrong_in_the_file_is_told_with_its_line_and_without_tokens() {
        let cases = [
            (
                "[[agent]]\nname = \"a\"\ntoken = \"short\"",
                "agent \"a\": its token has less than 16 characters",
            ),
            ("[[agent]]\nname = \"a\"", "line 1: missing field `token`"),
            ("[[agent]]\nname = \"a\"\ntoken = 0123456789abcdef", "line 3: "),
            (
                "[[agent]]\nname = \"a\"\ntoken = \"0123456789abcdef\"\naddresses = [\"10.0.0.1/8\"]",
                "line 4: ",
            ),
        ];
        for (text, start) in cases {
            let error = Agents::parse(text).expect_err(text);
            assert!(error.starts_with(start), "{error}");
            assert!(!error.contains("0123456789"), "{error}");
        }
        let twice = FILE.replace("fedcba9876543210", "0123456789abcdef");
        assert!(Agents::parse(&twice).is_err_and(|error| error.contains("the same token")));
        assert!(!format!("{:?}", Agents::parse(FILE)).contains("0123"));
    }
}
