//! Periodic sampling of sockets and their paths while transfers run.

use std::time::Duration;

use super::paths::Paths;
use super::report::StreamRow;
use super::sockets::Sockets;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::system::Namespace;

/// The interval of samples of sockets and paths.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);
/// Hosts sampled in that time; with more hosts the interval grows, which bounds the cost.
const HOSTS_PER_SAMPLE: u32 = 4;

/// The samples of sockets and their paths during transfers.
pub(super) struct Watch<'a> {
    lab: &'a Deployment,
    watched: Vec<Watched>,
    pause: Duration,
    next: Duration,
    paths: Paths,
}

/// The senders.
pub(super) struct Clients {
    pub namespace: Namespace,
    /// The range of the connections' destination ports.
    pub ports: (u16, u16),
    /// Whether no other transfer uses these ports.
    pub serve: bool,
}

struct Watched {
    clients: Clients,
    sockets: Sockets,
}

impl<'a> Watch<'a> {
    /// Samples the connections of these clients.
    pub(super) fn new(lab: &'a Deployment, clients: impl Iterator<Item = Clients>) -> Self {
        let watched: Vec<_> =
            clients.map(|clients| Watched { clients, sockets: Sockets::default() }).collect();
        let hosts = u32::try_from(watched.len()).unwrap_or(u32::MAX);
        let pause = SAMPLE_INTERVAL.saturating_mul(hosts.div_ceil(HOSTS_PER_SAMPLE).max(1));
        Self { lab, watched, pause, next: pause, paths: Paths::default() }
    }

    /// Takes a sample if one is due. Returns whether it did.
    pub(super) fn look(&mut self, elapsed: Duration) -> Result<bool, LabError> {
        if elapsed < self.next {
            return Ok(false);
        }
        self.next = elapsed + self.pause;
        for Watched { clients, sockets } in &mut self.watched {
            let (side, (first, last)) = (if clients.serve { "sport" } else { "dport" }, clients.ports);
            let filter = format!("{side} >= :{first} and {side} <= :{last}");
            let listing =
                self.lab.deployed.tool("ss").arg("-Htnie").arg(filter).within(&clients.namespace).run()?;
            sockets.add(elapsed.as_secs_f64(), &listing);
        }
        self.paths.ask(elapsed, self.lab.controller.as_ref());
        Ok(true)
    }

    /// The bytes acknowledged to client number `place`.
    pub(super) fn acked(&self, place: usize) -> u64 {
        self.watched.get(place).map(|it| it.sockets.acked()).unwrap_or_default()
    }

    /// The streams of client number `place` from these ports, or from all.
    pub(super) fn streams(&self, place: usize, ports: Option<&[u16]>) -> Vec<StreamRow> {
        let watched = self.watched.get(place);
        watched.map(|it| it.sockets.streams(ports, &self.paths, &self.lab.deployed.plan)).unwrap_or_default()
    }

    /// The rate of the clients from number `place` on after a time, in bits per second.
    pub(super) fn rate_from(&self, place: usize, since: Duration) -> f64 {
        let watched = self.watched.iter().skip(place);
        watched.map(|it| it.sockets.rate_since(since.as_secs_f64())).sum()
    }
}
