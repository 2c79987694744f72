//! What differs between two readings of a site's file: what can change while the site runs, and what cannot.

use std::fmt;

use braid_tunnel::PublicKey;

use super::{Config, LanConfig, PeerConfig};

/// What changes while a site runs, with the names of peers. A peer is known by its key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Changes {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
    has_other_traffic: bool,
    anew: Vec<PublicKey>,
}

impl Config {
    /// What changes when the site goes on with another configuration.
    ///
    /// # Errors
    ///
    /// The keys that differ and cannot change while it runs.
    pub(crate) fn changes_to(&self, after: &Self) -> Result<Changes, Vec<&'static str>> {
        let keys = self.fixed_differences(after);
        if !keys.is_empty() {
            return Err(keys);
        }
        let names = |peers: Vec<&PeerConfig>| peers.iter().map(|peer| peer.name.clone()).collect();
        let differing = |differs: fn(&PeerConfig, &PeerConfig) -> bool| -> Vec<_> {
            let differs =
                |peer: &&PeerConfig| self.peer(peer.key).is_some_and(|before| differs(before, peer));
            after.peers.iter().filter(differs).collect()
        };
        Ok(Changes {
            added: names(after.peers_without(self)),
            removed: names(self.peers_without(after)),
            changed: names(differing(|before, after| before != after)),
            has_other_traffic: self.traffic != after.traffic,
            anew: differing(|before, after| before.dials != after.dials)
                .iter()
                .map(|peer| peer.key)
                .collect(),
        })
    }

    fn fixed_differences(&self, after: &Self) -> Vec<&'static str> {
        // Nothing is left out: the compiler asks where a new key belongs.
        let Self { key_file: _, key, port, status, metrics, offloads, uplinks, peers: _, lan, traffic: _ } =
            self;
        let LanConfig { device, bridge, ethernet, address, nat } = lan;
        let fixed = [
            ("private_key", key.public() != after.key.public()),
            ("port", *port != after.port),
            ("status", *status != after.status),
            ("metrics", *metrics != after.metrics),
            ("offload", *offloads != after.offloads),
            ("uplink", *uplinks != after.uplinks),
            ("lan.device", *device != after.lan.device),
            ("lan.bridge", *bridge != after.lan.bridge),
            ("lan.ethernet", *ethernet != after.lan.ethernet),
            ("lan.address", *address != after.lan.address),
            ("lan.nat", *nat != after.lan.nat),
        ];
        fixed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }

    fn peer(&self, key: PublicKey) -> Option<&PeerConfig> {
        self.peers.iter().find(|peer| peer.key == key)
    }

    fn peers_without(&self, others: &Self) -> Vec<&PeerConfig> {
        self.peers.iter().filter(|peer| others.peer(peer.key).is_none()).collect()
    }
}

impl Changes {
    /// The peers that are dialled elsewhere and begin anew, also where only a host name shows that.
    pub(crate) fn anew(&self) -> &[PublicKey] {
        &self.anew
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peers = [("added", &self.added), ("removed", &self.removed), ("changed", &self.changed)];
        let peers = peers.into_iter().filter(|(_, names)| !names.is_empty());
        let mut parts: Vec<_> = peers.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
        parts.extend(self.has_other_traffic.then(|| "other rules of traffic".to_owned()));
        f.write_str(if parts.is_empty() { "nothing has changed" } else { "" })?;
        f.write_str(&parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use braid_tunnel::PrivateKey;

    use super::*;
    use crate::config::tests::{PEER, TRAFFIC, file, read};

    fn other_key() -> String {
        PrivateKey::new([2; 32]).public().to_string()
    }

    /// What changes when the first text becomes the second, or the keys that need a start.
    fn changes(before: &str, after: &str) -> Result<(String, usize), String> {
        let changes = read(before).unwrap().changes_to(&read(after).unwrap());
        changes.map(|it| (it.to_string(), it.anew().len())).map_err(|keys| keys.join(" "))
    }

    fn with_other() -> String {
        let key = other_key();
        let other =
            format!("[[peer]]\nname = \"lab\"\npublic_key = \"{key}\"\nnetworks = [\"10.3.0.0/16\"]\n");
        file().replace("[[peer]]", &(other + "[[peer]]"))
    }

    #[test]
    fn peers_that_are_added_removed_and_changed_are_named() {
        let said = |before: &str, after: &str| changes(before, after).unwrap();
        let is = |text: &str, anew| (text.to_owned(), anew);
        assert_eq!(said(&file(), &file()), is("nothing has changed", 0));
        assert_eq!(said(&file(), &with_other()), is("added lab", 0));
        assert_eq!(said(&with_other(), &file()), is("removed lab", 0));
        assert_eq!(said(&file(), &file().replace(PEER, &other_key())), is("added branch; removed branch", 0));
        assert_eq!(said(&file(), &file().replace("10.2.0.0/16", "10.4.0.0/16")), is("changed branch", 0));
        assert_eq!(said(&file(), &file().replace("198.51.100.1", "198.51.100.2")), is("changed branch", 1));
        let named = file().replace("198.51.100.1:4000", "one.example.org");
        assert_eq!(said(&named, &named.replace("one", "two")), is("changed branch", 1));
        let all = file().replace("10.2.0.0/16", "10.4.0.0/16") + TRAFFIC;
        assert_eq!(said(&with_other(), &all), is("removed lab; changed branch; other rules of traffic", 0));
    }

    #[test]
    fn what_a_site_has_from_its_start_on_is_named() {
        let before = format!("port = 1\noffload = true\nmetrics = \"127.0.0.1:1\"\n{}", file());
        let cases = [
            ("port = 1", "port = 2", "port"),
            ("offload = true", "offload = false", "offload"),
            ("127.0.0.1:1", "127.0.0.1:2", "metrics"),
            ("100Mbit", "200Mbit", "uplink"),
            ("[lan]", "[lan]\ndevice = \"braid1\"", "status lan.device"),
            ("10.1.0.1/24", "10.1.0.2/24", "lan.address"),
            ("[lan]", "[lan]\nnat = true", "lan.nat"),
        ];
        for (text, other, wanted) in cases {
            assert!(before.contains(text));
            assert_eq!(changes(&before, &before.replace(text, other)), Err(wanted.to_owned()));
        }
        let config = read(&before).unwrap();
        let other = Config { key: PrivateKey::new([2; 32]), ..config.clone() };
        assert_eq!(config.changes_to(&other), Err(vec!["private_key"]));
    }
}
