//! Periodic sampling of sockets and their paths while transfers run.

use std::time::Duration;

use super::paths::Paths;
use super::report::StreamRow;
use super::sockets::Sockets;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::system::Namespace;

/// How often sockets and paths are looked at, and the length of the intervals.
const SAMPLE: Duration = Duration::from_millis(500);
/// So many hosts are looked at in that time; with more it takes longer, so that looking costs no more.
const HOSTS_A_SAMPLE: u32 = 4;

/// What is seen of sockets and their paths while transfers go on.
pub(super) struct Watch<'a> {
    lab: &'a Deployment,
    watched: Vec<Watched>,
    pause: Duration,
    next: Duration,
    paths: Paths,
}

/// Those who send.
pub(super) struct Clients {
    pub namespace: Namespace,
    /// To which ports the connections go, from the first to the last.
    pub ports: (u16, u16),
    /// Whether these are their own.
    pub serve: bool,
}

struct Watched {
    clients: Clients,
    sockets: Sockets,
}

impl<'a> Watch<'a> {
    /// Watches the connections of each of these.
    pub(super) fn new(lab: &'a Deployment, clients: impl Iterator<Item = Clients>) -> Self {
        let watched: Vec<_> =
            clients.map(|clients| Watched { clients, sockets: Sockets::default() }).collect();
        let hosts = u32::try_from(watched.len()).unwrap_or(u32::MAX);
        let pause = SAMPLE.saturating_mul(hosts.div_ceil(HOSTS_A_SAMPLE).max(1));
        Self { lab, watched, pause, next: pause, paths: Paths::default() }
    }

    /// Looks if it is time, and says whether it was.
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
        self.paths.ask(self.lab.controller.as_ref());
        Ok(true)
    }

    /// What was acknowledged to the client at `place` so far, in bytes.
    pub(super) fn acked(&self, place: usize) -> u64 {
        self.watched.get(place).map(|it| it.sockets.acked()).unwrap_or_default()
    }

    /// The streams of the connections from these ports, or all, of the client at `place`.
    pub(super) fn streams(&self, place: usize, ports: Option<&[u16]>) -> Vec<StreamRow> {
        let watched = self.watched.get(place);
        watched.map(|it| it.sockets.streams(ports, &self.paths, &self.lab.deployed.plan)).unwrap_or_default()
    }

    /// What the clients from `place` on carried after a moment, in bits a second.
    pub(super) fn rate_from(&self, place: usize, since: Duration) -> f64 {
        let watched = self.watched.iter().skip(place);
        watched.map(|it| it.sockets.rate_since(since.as_secs_f64())).sum()
    }
}
