//! Tokens of host agents, and the addresses that each agent may ask about.

use std::net::IpAddr;
use std::path::Path;

use braid_control::Asker;
use braid_types::IpPrefix;
use serde::Deserialize;

use crate::token_table::{TokenFileError, TokenTable, document, read};

/// The agents with a token, and the addresses that each may ask about; `None` stands for its own host's.
#[derive(Clone, Default, Debug)]
pub struct Agents(TokenTable<Option<Vec<IpPrefix>>>);

/// The file's content.
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
    /// Reads a TOML file: `[[agent]]` with `name`, `token`, and `addresses` if the agent may ask about more than its own
    /// host.
    ///
    /// # Errors
    ///
    /// The file cannot be read or has unknown content, a token twice, or a token of less than 16 characters.
    pub fn read(path: &Path) -> Result<Self, TokenFileError> {
        read(path, Self::parse)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut agents = TokenTable::default();
        for Entry { name, token, addresses } in document::<File>(text)?.agent {
            agents.insert(name, &token, addresses)?;
        }
        Ok(Self(agents))
    }

    /// The requester with this address and token; `None` if it is not authorised.
    ///
    /// Without a token, the controller's own machine may ask about all hosts. If no agent has a token, each host may ask
    /// about itself.
    pub(crate) fn identify(&self, from: IpAddr, token: Option<&str>) -> Option<Asker> {
        let from = from.to_canonical();
        match token {
            Some(token) => {
                let addresses = self.0.get(token)?;
                Some(addresses.clone().map_or(Asker::Host(from), Asker::Owner))
            }
            None if from.is_loopback() => Some(Asker::Trusted),
            None if self.0.is_empty() => Some(Asker::Host(from)),
            None => None,
        }
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
    fn a_token_decides_which_hosts_its_agent_may_ask_about() {
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
    fn without_tokens_each_host_asks_about_itself() {
        let mapped = "::ffff:10.0.1.9".parse().expect("an address");
        assert_eq!(Agents::default().identify(mapped, None), Some(Asker::Host(ip(9))));
        assert_eq!(Agents::default().identify(ip(9), Some("")), None);
    }

    #[test]
    fn errors_of_the_file_name_the_line_and_no_token() {
        let cases = [
            ("[[agent]]\nname = \"a\"\ntoken = \"short\"", "\"a\": its token has fewer than 16 characters"),
            ("[[agent]]\nname = \"a\"", "line 1: the key \"token\" is missing"),
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
