//! What a round of transfers costs: the machine's processor time, and memory of the sockets of all senders and receivers.

use std::time::Duration;

use super::report::{CostRow, Row};
use super::sockets::entries;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::plan::HostPlan;
use crate::system::{Namespace, processors};

/// The interval of looks at the sockets.
const INTERVAL: Duration = Duration::from_millis(500);
/// Hosts looked at in that time; with more hosts the interval grows, which bounds the cost of looking.
const HOSTS_PER_LOOK: usize = 4;

/// A measurement, from the start of a round to its end.
pub(super) struct CostMeter<'a> {
    lab: &'a Deployment,
    hosts: Vec<&'a HostPlan>,
    busy: Duration,
    pause: Duration,
    next: Duration,
    socket_bytes: u64,
}

/// What was spent.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    busy: Duration,
    socket_bytes: u64,
}

impl<'a> CostMeter<'a> {
    /// Begins; `hosts` are those that send and receive.
    pub(super) fn start(
        lab: &'a Deployment,
        hosts: impl Iterator<Item = &'a HostPlan>,
    ) -> Result<Self, LabError> {
        let mut hosts: Vec<_> = hosts.collect();
        hosts.sort_by_key(|host| &host.name);
        hosts.dedup_by_key(|host| &host.name);
        let groups = u32::try_from(hosts.len().div_ceil(HOSTS_PER_LOOK)).unwrap_or(u32::MAX);
        let pause = INTERVAL.saturating_mul(groups);
        Ok(Self { lab, hosts, busy: processors::busy()?, pause, next: pause, socket_bytes: 0 })
    }

    /// Looks at the sockets if it is time to.
    pub(super) fn look(&mut self, elapsed: Duration) -> Result<(), LabError> {
        if elapsed < self.next {
            return Ok(());
        }
        self.next = elapsed + self.pause;
        let mut bytes = 0;
        for host in &self.hosts {
            let tool = self.lab.deployed.tool("ss").arg("-HtMmni").within(&Namespace::named(&host.namespace));
            bytes += memory(&tool.run()?);
        }
        self.socket_bytes = self.socket_bytes.max(bytes);
        Ok(())
    }

    /// Ends.
    pub(super) fn finish(self) -> Result<Cost, LabError> {
        Ok(Cost { busy: processors::busy()?.saturating_sub(self.busy), socket_bytes: self.socket_bytes })
    }
}

impl Cost {
    /// What it was for what `rows` carried, their warm-up included; `None` if that was nothing.
    pub(super) fn of(self, rows: &[Row]) -> Option<CostRow> {
        let bits: f64 = rows.iter().map(carried).sum();
        let core_seconds_per_gbit = self.busy.as_secs_f64() / (bits / 1e9);
        (bits > 0.0).then_some(CostRow { core_seconds_per_gbit, socket_bytes: self.socket_bytes })
    }
}

/// The bits that arrived; of copies and files all, also behind the last sample.
fn carried(row: &Row) -> f64 {
    let sampled = row.intervals.iter().map(|it| it.bps * (it.end - it.start)).sum();
    row.delivery.as_ref().map_or(sampled, |delivery| delivery.bytes_received as f64 * 8.0)
}

/// What the sockets of a listing of `ss -m` hold: received, queued, reserved, for options and in the backlog. What a subflow
/// of MPTCP has queued lies in the memory of its connection and is listed there, too.
fn memory(listing: &str) -> u64 {
    entries(listing).iter().map(|entry| held_by(entry, entry.contains("tcp-ulp-mptcp"))).sum()
}

fn held_by(entry: &str, is_subflow: bool) -> u64 {
    let fields = entry.split("skmem:(").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    let amounts = fields.split(',').filter_map(|field| {
        let digits = field.find(|it: char| it.is_ascii_digit())?;
        let (name, amount) = field.split_at(digits);
        let counts = matches!(name, "r" | "f" | "o" | "bl") || (name == "w" && !is_subflow);
        counts.then(|| amount.parse::<u64>().ok()).flatten()
    });
    amounts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_sockets_hold_and_not_what_they_may() {
        let listing = "\
tcp ESTAB 0 1156648 10.0.2.1:59203 10.0.2.2:5201
\t skmem:(r0,rb131072,t0,tb4194304,f3000,w1400000,o0,bl0,d0) reno bytes_acked:1 tcp-ulp-mptcp flags:Mmec
mptcp ESTAB 0 1156648 10.0.2.1:59203 10.0.2.2:5201
\t skmem:(r0,rb131072,t0,tb4194304,f50,w1500000,o0,bl0,d0) subflows_max:2
tcp ESTAB 0 0 10.0.2.1:5201 10.0.2.2:59203
\t skmem:(r500,rb6291456,t0,tb87040,f96,w7,o0,bl4,d7) reno
";
        assert_eq!(memory(listing), 3_000 + 50 + 1_500_000 + 500 + 96 + 7 + 4);
        assert_eq!((memory(""), memory("skmem:(r"), memory("skmem:(rx,w-1,f)")), (0, 0, 0));
    }
}
