//! What a round of transfers costs: the machine's processor time, and memory of the sockets of all senders and receivers.

use std::time::Duration;

use super::report::{CostRow, Row};
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::plan::HostPlan;
use crate::system::{Namespace, processors};

/// The interval of looks at the sockets.
const INTERVAL: Duration = Duration::from_millis(500);

/// A measurement, from its start until a row is made of it.
pub(super) struct Spending<'a> {
    lab: &'a Deployment,
    hosts: Vec<&'a HostPlan>,
    busy: Duration,
    next: Duration,
    socket_bytes: u64,
}

impl<'a> Spending<'a> {
    /// Begins; `hosts` are those that send and receive.
    pub(super) fn start(lab: &'a Deployment, hosts: impl Iterator<Item = &'a HostPlan>) -> Self {
        let mut hosts: Vec<_> = hosts.collect();
        hosts.sort_by_key(|host| &host.name);
        hosts.dedup_by_key(|host| &host.name);
        Self { lab, hosts, busy: processors::busy(), next: INTERVAL, socket_bytes: 0 }
    }

    /// Looks at the sockets if it is time to.
    pub(super) fn look(&mut self, elapsed: Duration) -> Result<(), LabError> {
        if elapsed < self.next {
            return Ok(());
        }
        self.next = elapsed + INTERVAL;
        let mut bytes = 0;
        for host in &self.hosts {
            let tool = self.lab.deployed.tool("ss").arg("-HtMmn").within(&Namespace::named(&host.namespace));
            bytes += memory(&tool.run()?);
        }
        self.socket_bytes = self.socket_bytes.max(bytes);
        Ok(())
    }

    /// What was spent since the start on what `rows` carried, their warm-up included.
    pub(super) fn row(&self, rows: &[Row]) -> CostRow {
        let intervals = rows.iter().flat_map(|row| &row.intervals);
        let bits: f64 = intervals.map(|it| it.bps * (it.end - it.start)).sum();
        let spent = processors::busy().saturating_sub(self.busy).as_secs_f64();
        CostRow { core_seconds_per_gbit: spent / (bits / 1e9), socket_bytes: self.socket_bytes }
    }
}

/// What the sockets of a listing of `ss -m` hold: received, queued, reserved, for options and in the backlog.
fn memory(listing: &str) -> u64 {
    let fields = listing.split("skmem:(").skip(1).filter_map(|rest| rest.split(')').next());
    let amounts = fields.flat_map(|fields| fields.split(',')).filter_map(|field| {
        let digits = field.find(|it: char| it.is_ascii_digit())?;
        let (name, amount) = field.split_at(digits);
        ["r", "w", "f", "o", "bl"].contains(&name).then(|| amount.parse::<u64>().ok()).flatten()
    });
    amounts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_sockets_hold_and_not_what_they_may() {
        let listing = "\
ESTAB 0 1156648 10.0.2.1:59203 10.0.2.2:5201
\t skmem:(r0,rb131072,t0,tb4194304,f3000,w1400000,o0,bl0,d0)
ESTAB 0 0 10.0.2.1:5201 10.0.2.2:59203
\t skmem:(r500,rb6291456,t0,tb87040,f96,w0,o0,bl4,d7)
";
        assert_eq!(memory(listing), 3_000 + 1_400_000 + 500 + 96 + 4);
        assert_eq!((memory(""), memory("skmem:(r"), memory("skmem:(rx,w-1,f)")), (0, 0, 0));
    }
}
