//! Address translation towards the Internet: an nftables table of the site's own, which the kernel removes with its process.
//!
//! The table belongs to the socket of an `nft` that waits for more lines. It goes when that process ends, and the process
//! ends when this one does, in whichever way: its standard input is closed then.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use braid_types::IpPrefix;

use crate::error::SiteError;

/// `nft` takes some milliseconds.
const READY_TIMEOUT: Duration = Duration::from_secs(3);
const READY_INTERVAL: Duration = Duration::from_millis(20);
/// Headers of IPv4 and IPv6 with TCP.
const HEADERS: [(&str, usize); 2] = [("ip", 40), ("ip6", 60)];

/// The table, which exists as long as this value.
pub(crate) struct Nat {
    rules: Rules,
    nft: Child,
    /// Of the networks: a chain of this number shows that they are translated.
    generation: u32,
}

/// What is translated.
#[derive(Clone, Debug)]
struct Rules {
    device: String,
    uplinks: Vec<String>,
    networks: Vec<IpPrefix>,
    mtu: usize,
}

impl Nat {
    /// Translates what comes from `networks` and leaves by one of the uplinks.
    pub(crate) fn open<'a>(
        device: &str,
        uplinks: impl Iterator<Item = &'a str>,
        networks: impl Iterator<Item = &'a IpPrefix>,
        mtu: usize,
    ) -> Result<Self, SiteError> {
        let uplinks = uplinks.map(str::to_owned).collect();
        let rules = Rules { device: device.to_owned(), uplinks, networks: networks.copied().collect(), mtu };
        let nft = rules.enter()?;
        Ok(Self { rules, nft, generation: 0 })
    }

    /// Makes the table again if somebody has ended its process.
    pub(crate) fn look(&mut self) {
        if !matches!(self.nft.try_wait(), Ok(Some(_))) {
            return;
        }
        tracing::warn!(
            table = self.rules.table(),
            "the process of the nftables table has ended; beginning anew"
        );
        self.begin_anew().unwrap_or_else(|error| tracing::error!("{error}"));
    }

    fn begin_anew(&mut self) -> Result<(), SiteError> {
        self.nft = self.rules.enter()?;
        self.generation = 0;
        Ok(())
    }

    /// Follows the MTU of the device: servers may not hear that a packet is too long.
    pub(crate) fn set_mtu(&mut self, mtu: usize) {
        if mtu == self.rules.mtu {
            return;
        }
        self.rules.mtu = mtu;
        let line = self.rules.replacing("segments", &self.rules.segments(), None);
        self.write(&line);
    }

    /// Translates what comes from these networks from now on.
    ///
    /// # Errors
    ///
    /// [`SiteError::Nat`] if nothing is translated; it is tried again, with the networks from before.
    pub(crate) fn set_networks<'a>(
        &mut self,
        networks: impl Iterator<Item = &'a IpPrefix>,
    ) -> Result<(), SiteError> {
        let networks: Vec<_> = networks.copied().collect();
        if networks != self.rules.networks {
            let before = std::mem::replace(&mut self.rules.networks, networks);
            self.generation = self.generation.saturating_add(1);
            let line = self.rules.replacing("out", &self.rules.sources(), Some(self.generation));
            self.write(&line);
            if !self.rules.has_chain(&generation(self.generation)) {
                // What is left of the old rules goes with the process.
                let _ = self.nft.kill();
                tracing::warn!(table = self.rules.table(), "nft does not answer; beginning anew");
                self.begin_anew().inspect_err(|_| self.rules.networks = before)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, line: &str) {
        let written = self.nft.stdin.as_mut().map(|stdin| stdin.write_all(line.as_bytes()));
        if let Some(Err(error)) = written {
            tracing::warn!("the process of the nftables table takes nothing: {error}");
        }
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        // The table goes with the process; nothing may be left once this one has ended.
        drop(self.nft.stdin.take());
        let _ = self.nft.kill();
        let _ = self.nft.wait();
    }
}

impl Rules {
    fn table(&self) -> String {
        format!("inet braid-{}", self.device)
    }

    /// Has an `nft` make the table and keep it.
    fn enter(&self) -> Result<Child, SiteError> {
        let mut command = Command::new("nft");
        // A hangup of the terminal is for this process alone.
        command.process_group(0).arg("-i").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut nft = command.spawn().map_err(|error| self.refuse(&error.to_string()))?;
        let written = nft.stdin.as_mut().map(|stdin| stdin.write_all(self.lines().as_bytes()));
        if matches!(written, Some(Ok(()))) && self.has_chain("complete") {
            nft.stderr.take().into_iter().for_each(repeat);
            return Ok(nft);
        }
        let _ = nft.kill();
        let mut said = String::new();
        let _ = nft.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
        let _ = nft.wait();
        Err(self.refuse(said.lines().next().unwrap_or("it does not answer")))
    }

    /// Whether the table has this chain, after a while.
    fn has_chain(&self, chain: &str) -> bool {
        let end = Instant::now() + READY_TIMEOUT;
        let table = self.table();
        let listed = || {
            let mut command = Command::new("nft");
            let (family, name) = table.split_once(' ').unwrap_or_default();
            command.args(["list", "chain", family, name, chain]).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        loop {
            if listed() {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
            std::thread::sleep(READY_INTERVAL);
        }
    }

    fn refuse(&self, reason: &str) -> SiteError {
        let reason = format!("{reason}; nat needs nftables, and Linux 5.12 or later");
        SiteError::Nat { table: self.table(), source: io::Error::other(reason) }
    }

    /// The lines that make the table; what it is complete with comes last.
    fn lines(&self) -> String {
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
    fn sources(&self) -> Vec<String> {
        let (table, uplinks) = (self.table(), listed(self.uplinks.iter().map(|it| format!("\"{it}\""))));
        let rule = |(family, networks)| {
            format!("add rule {table} out {family} saddr {networks} oifname {uplinks} masquerade")
        };
        self.by_family().into_iter().map(rule).collect()
    }

    /// The line that gives a chain other rules, in one transaction: no packet finds it empty. A chain of a generation shows that it
    /// is done.
    fn replacing(&self, chain: &str, rules: &[String], number: Option<u32>) -> String {
        let flush = format!("flush chain {} {chain}", self.table());
        let done = number.map(|number| format!("add chain {} {}", self.table(), generation(number)));
        let before = number.filter(|number| *number > 1).map(|number| generation(number - 1));
        let gone = before.map(|before| format!("delete chain {} {before}", self.table()));
        let commands = std::iter::once(&flush).chain(rules).chain(&done).chain(&gone);
        let commands: Vec<_> = commands.map(String::as_str).collect();
        commands.join("; ") + "\n"
    }

    /// The rules that keep segments short enough for the device, in both directions.
    fn segments(&self) -> Vec<String> {
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

fn generation(number: u32) -> String {
    format!("networks{number}")
}

/// Logs what `nft` says, until it ends: nobody else reads it, and it waits for readers.
fn repeat(stderr: ChildStderr) {
    let lines = BufReader::new(stderr).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.for_each(|line| tracing::warn!("nft: {line}")));
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
