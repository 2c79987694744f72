//! The lines that tell `nft` what is translated.

use braid_types::IpPrefix;

/// Headers of IPv4 and IPv6 with TCP.
const HEADERS: [(&str, usize); 2] = [("ip", 40), ("ip6", 60)];

/// What is translated.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) device: String,
    pub(super) uplinks: Vec<String>,
    pub(super) networks: Vec<IpPrefix>,
    pub(super) mtu: usize,
}

impl Rules {
    pub(super) fn table(&self) -> String {
        format!("inet braid-{}", self.device)
    }

    /// The lines that make the table; what it is complete with comes last.
    pub(super) fn lines(&self) -> String {
        let table = self.table();
        let mut lines = vec![
            format!("add table {table} {{ flags owner; }}"),
            format!("add chain {table} out {{ type nat hook postrouting priority srcnat; }}"),
            format!("add chain {table} segments {{ type filter hook forward priority mangle; }}"),
        ];
        lines.extend(self.sources());
        lines.extend(self.segments());
        lines.push(format!("add chain {table} complete\n"));
        lines.join("\n")
    }

    /// The rules that translate what comes from the networks.
    pub(super) fn sources(&self) -> Vec<String> {
        let (table, uplinks) = (self.table(), listed(self.uplinks.iter().map(|it| format!("\"{it}\""))));
        let rule = |(family, networks)| {
            format!("add rule {table} out {family} saddr {networks} oifname {uplinks} masquerade")
        };
        self.by_family().into_iter().map(rule).collect()
    }

    /// The line that gives a chain other rules, in one transaction: no packet finds it empty. A chain of a generation shows that it
    /// is done.
    pub(super) fn replacing(&self, chain: &str, rules: &[String], number: Option<u32>) -> String {
        let flush = format!("flush chain {} {chain}", self.table());
        let done = number.map(|number| format!("add chain {} {}", self.table(), generation(number)));
        let before = number.filter(|number| *number > 1).map(|number| generation(number - 1));
        let gone = before.map(|before| format!("delete chain {} {before}", self.table()));
        let commands = std::iter::once(&flush).chain(rules).chain(&done).chain(&gone);
        let commands: Vec<_> = commands.map(String::as_str).collect();
        commands.join("; ") + "\n"
    }

    /// The rules that keep segments short enough for the device, in both directions.
    pub(super) fn segments(&self) -> Vec<String> {
        let (table, device) = (self.table(), &self.device);
        let rule = |(family, headers): (&str, usize)| {
            let (protocol, size) =
                (if family == "ip" { "ipv4" } else { "ipv6" }, self.mtu.saturating_sub(headers));
            ["iifname", "oifname"].map(|side| {
                format!(
                    "add rule {table} segments meta nfproto {protocol} {side} \"{device}\" \
                     tcp flags & (syn | rst) == syn tcp option maxseg size set {size}"
                )
            })
        };
        HEADERS.into_iter().flat_map(rule).collect()
    }

    /// The networks as nftables has them, of each family that has any.
    fn by_family(&self) -> Vec<(&'static str, String)> {
        let of = |family: &'static str| {
            let texts = self.networks.iter().map(ToString::to_string);
            let of_family: Vec<_> = texts.filter(|it| it.contains(':') == (family == "ip6")).collect();
            (!of_family.is_empty()).then(|| (family, listed(of_family.into_iter())))
        };
        HEADERS.into_iter().filter_map(|(family, _)| of(family)).collect()
    }
}

/// The name of the chain that shows that the networks of this number are translated.
pub(super) fn generation(number: u32) -> String {
    format!("networks{number}")
}

fn listed(items: impl Iterator<Item = String>) -> String {
    format!("{{ {} }}", items.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_networks_of_each_family_and_the_uplinks() {
        let networks = ["10.1.0.0/16", "fd01::/64", "10.3.0.0/16"].map(|text| text.parse().unwrap()).to_vec();
        let uplinks = ["wan1", "wan2"].map(str::to_owned).to_vec();
        let rules = Rules { device: "braid0".to_owned(), uplinks, networks, mtu: 1_400 };
        let lines = rules.lines();
        let wanted = [
            "add table inet braid-braid0 { flags owner; }",
            "out ip saddr { 10.1.0.0/16, 10.3.0.0/16 } oifname { \"wan1\", \"wan2\" } masquerade",
            "out ip6 saddr { fd01::/64 } oifname { \"wan1\", \"wan2\" } masquerade",
            "nfproto ipv4 oifname \"braid0\" tcp flags & (syn | rst) == syn tcp option maxseg size set 1360",
            "nfproto ipv6 iifname \"braid0\" tcp flags & (syn | rst) == syn tcp option maxseg size set 1340",
        ];
        for part in wanted {
            assert!(lines.contains(part), "{part} is not in\n{lines}");
        }
        assert!(lines.ends_with("complete\n"));
        assert_eq!(
            rules.replacing("out", &rules.sources()[..1], Some(3)),
            "flush chain inet braid-braid0 out; add rule inet braid-braid0 out ip saddr { 10.1.0.0/16, 10.3.0.0/16 } \
             oifname { \"wan1\", \"wan2\" } masquerade; add chain inet braid-braid0 networks3; \
             delete chain inet braid-braid0 networks2\n"
        );
    }
}
