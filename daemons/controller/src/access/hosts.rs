//! The names under which the controller is asked for: those of others may be made to point here (DNS rebinding).

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::Tls;

/// The names of the controller, beside `localhost`, addresses and what its certificate names.
#[derive(Clone, Default, Debug)]
pub struct HostNames(BTreeSet<String>);

impl HostNames {
    /// These names, and that of this machine.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let names = names.into_iter().chain([own]).map(|name| canonical(&name));
        Self(names.filter(|name| !name.is_empty()).collect())
    }

    /// Whether a `Host` field, with or without a port, names the controller.
    pub(crate) fn include(&self, host: &str, tls: Option<&Tls>) -> bool {
        let Some(name) = name_of(host) else { return false };
        let address = name.trim_start_matches('[').trim_end_matches(']');
        let name = canonical(name);
        // Nobody else can let an address or this name point anywhere.
        address.parse::<IpAddr>().is_ok()
            || name == "localhost"
            || self.0.contains(&name)
            || tls.is_some_and(|tls| tls.names(&name))
    }
}

/// The field without its port; `None` if that is no number.
fn name_of(host: &str) -> Option<&str> {
    let end = host.rfind(']').map_or(0, |end| end + 1);
    let (_, after) = host.split_at_checked(end)?;
    match after.split_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host.get(..end + name.len()),
        Some(_) => None,
        None => Some(host),
    }
}

fn canonical(name: &str) -> String {
    name.trim().trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_given_names_are_the_controller_s() {
        let names = HostNames::new(["Braid.Example".to_owned()]);
        let own = [
            "127.0.0.1:8653",
            "[::1]:8653",
            "[::1]",
            "10.0.0.1",
            "localhost",
            "LocalHost:1",
            "braid.example:8653",
            "BRAID.example.",
        ];
        for host in own {
            assert!(names.include(host, None), "{host}");
        }
        let others = [
            "",
            ":8653",
            "evil.example",
            "evil.example:8653",
            "127.0.0.1.example:80",
            "[::1].example",
            "braid.example.evil.example",
            "localhost:x",
            "evil.example@localhost",
            "localhost evil.example",
        ];
        for host in others {
            assert!(!names.include(host, None), "{host}");
        }
    }
}
