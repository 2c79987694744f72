//! Address translation towards the Internet: an nftables table of the site's own, which the kernel removes with its process.
//!
//! The table belongs to the socket of an `nft` that waits for more lines. It goes when that process ends, and the process
//! ends when this one does, in whichever way: its standard input is closed then.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use braid_types::IpPrefix;

use super::rules::{Rules, generation};
use crate::error::SiteError;

/// `nft` takes some milliseconds.
const READY_TIMEOUT: Duration = Duration::from_secs(3);
const READY_INTERVAL: Duration = Duration::from_millis(20);

/// The table, which exists as long as this value.
pub(super) struct Table {
    rules: Rules,
    nft: Child,
    /// Of the networks: a chain of this number shows that they are translated.
    generation: u32,
}

impl Table {
    pub(super) fn open(rules: Rules) -> Result<Self, SiteError> {
        let nft = enter(&rules)?;
        Ok(Self { rules, nft, generation: 0 })
    }

    /// Makes the table again if somebody has ended its process.
    pub(super) fn look(&mut self) {
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
        self.nft = enter(&self.rules)?;
        self.generation = 0;
        Ok(())
    }

    /// Follows the MTU of the device: servers may not hear that a packet is too long.
    pub(super) fn set_mtu(&mut self, mtu: usize) {
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
    pub(super) fn set_networks(&mut self, networks: Vec<IpPrefix>) -> Result<(), SiteError> {
        if networks != self.rules.networks {
            let before = std::mem::replace(&mut self.rules.networks, networks);
            self.generation = self.generation.saturating_add(1);
            let line = self.rules.replacing("out", &self.rules.sources(), Some(self.generation));
            self.write(&line);
            if !has_chain(&self.rules, &generation(self.generation)) {
                // What is left of the old rules goes with the process.
                let _ = self.nft.kill();
                let _ = self.nft.wait();
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

impl Drop for Table {
    fn drop(&mut self) {
        // The table goes with the process; nothing may be left once this one has ended.
        drop(self.nft.stdin.take());
        let _ = self.nft.kill();
        let _ = self.nft.wait();
    }
}

/// Has an `nft` make the table and keep it.
fn enter(rules: &Rules) -> Result<Child, SiteError> {
    let mut command = Command::new("nft");
    // A hangup of the terminal is for this process alone.
    command.process_group(0).arg("-i").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut nft = command.spawn().map_err(|error| refuse(rules, &error.to_string()))?;
    let written = nft.stdin.as_mut().map(|stdin| stdin.write_all(rules.lines().as_bytes()));
    if matches!(written, Some(Ok(()))) && has_chain(rules, "complete") {
        nft.stderr.take().into_iter().for_each(repeat);
        return Ok(nft);
    }
    let _ = nft.kill();
    let mut said = String::new();
    let _ = nft.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
    let _ = nft.wait();
    Err(refuse(rules, said.lines().next().unwrap_or("it does not answer")))
}

/// Whether the table has this chain, after a while.
fn has_chain(rules: &Rules, chain: &str) -> bool {
    let end = Instant::now() + READY_TIMEOUT;
    let table = rules.table();
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

fn refuse(rules: &Rules, reason: &str) -> SiteError {
    let reason = format!("{reason}; nat needs nftables, and Linux 5.12 or later");
    SiteError::Nat { table: rules.table(), source: io::Error::other(reason) }
}

/// Logs what `nft` says, until it ends: nobody else reads it, and it waits for readers.
fn repeat(stderr: ChildStderr) {
    let lines = BufReader::new(stderr).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.for_each(|line| tracing::warn!("nft: {line}")));
}
