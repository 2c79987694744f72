//! A whole network comes up: when its map is complete, whether it stays so, and what that costs.
//!
//! Every switch connects, and every discovery frame arrives at the neighbour at once. A controller that can be
//! asked says how many links it knows. Of others it is only known which links their frames have passed.

mod connections;
mod death;
mod echoes;
mod meter;
mod rejoin;
mod report;

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use braid_packet::arp::Arp;
pub use connections::Connections;
pub use death::Death;
pub use echoes::EchoTimes;
pub use rejoin::Rejoin;
pub use report::{Busy, Cost, Progress, Reading, Report};

use crate::error::LoadError;
use crate::layout::Layout;
use crate::network::Network;
use crate::packets::{ADMIT, announcement, packet_in};
use crate::switch::Received;
use crate::usage::Usage;
use connections::Openers;
use echoes::Echoes;
use meter::Meter;
use rejoin::Leavers;

/// Hosts that speak in one second.
const HOSTS_A_SECOND: usize = 1_000;
/// How long the first host is alone.
const FIRST_HOST_ALONE: Duration = Duration::from_secs(1);
/// How long hosts wait before they speak again.
const ANNOUNCE_AGAIN: Duration = Duration::from_secs(10);
/// Connections a second that no controller keeps up with.
const OVERLOAD: f64 = 5e6;
/// How long it may take until control traffic of all switches is answered after an overload.
const RECOVERY: Duration = Duration::from_secs(60);
/// Before a switch dies, no rule changes for so long: what changes then is the repair.
const CALM: Duration = Duration::from_secs(5);

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Where the controller listens for switches.
    pub to: SocketAddr,
    /// How long the map may take to be complete, and then the hosts to be known.
    pub limit: Duration,
    /// How long to watch it at rest.
    pub hold: Duration,
    /// Whether hosts speak ARP once the map is complete.
    pub hosts: bool,
    /// MPTCP connections a second that hosts open for as long again.
    pub connections: Option<f64>,
    /// For how long hosts then open more connections than any controller takes.
    pub overload: Duration,
    /// How many switches a second then leave and join again, until each has done so once.
    pub rolling: Option<f64>,
    /// Whether the switches of a pod then leave in the same moment and join again.
    pub pod: bool,
    /// Whether a switch in the middle dies at the end.
    pub death: bool,
    /// The controller's process, on this machine.
    pub process: Option<u32>,
}

/// Brings the network up and watches it.
///
/// `reading` is what the controller last said of itself, and `progress` gets a report a second.
///
/// # Errors
/// Nobody listens, the system refuses, or connections are asked for and there are no two hosts, or a pod and there is none.
pub fn run(
    layout: &Layout,
    plan: Plan,
    reading: &dyn Fn() -> Option<Reading>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, LoadError> {
    let has_connections = plan.connections.is_some() || !plan.overload.is_zero();
    if has_connections && layout.hosts.len() < 2 {
        return Err(LoadError::Impossible("connections need a network with two hosts".to_owned()));
    }
    if plan.pod && rejoin::pod(layout).is_empty() {
        return Err(LoadError::Impossible("the network has no pods, as a FatTree has".to_owned()));
    }
    let network = Network::new(plan.to, layout)?;
    let meter = Meter::new(plan.process);
    let mut run = Run { layout, plan, network, meter, reading, progress, links: 0, dropped: 0 };
    let mut report = run.map()?;
    if report.complete_after.is_some() {
        if plan.hosts && !layout.hosts.is_empty() {
            (report.hosts, report.hosts_after) = run.announce()?;
        }
        run.watch(&mut report)?;
    }
    run.finish(&mut report);
    if report.complete_after.is_some() {
        run.disturb(&mut report)?;
    }
    Ok(report)
}

struct Run<'a> {
    layout: &'a Layout,
    plan: Plan,
    network: Network,
    meter: Meter,
    reading: &'a dyn Fn() -> Option<Reading>,
    progress: &'a mut dyn FnMut(&Progress),
    /// The links that the controller last knew.
    links: u64,
    /// By how many this has fallen so far.
    dropped: u64,
}

impl Run<'_> {
    fn map(&mut self) -> Result<Report, LoadError> {
        let (links, start) = (self.layout.directed_links(), Instant::now());
        let mut report =
            Report { switches: self.layout.dpids.len(), directed_links: links, ..Report::default() };
        while start.elapsed() < self.plan.limit {
            self.network.open()?;
            self.step(|_, _| {})?;
            if self.is_complete() {
                report.complete_after = Some(start.elapsed().as_secs_f64());
                break;
            }
        }
        report.mapping = self.meter.cost(&self.network);
        Ok(report)
    }

    fn is_complete(&self) -> bool {
        let (switches, links) = (self.layout.dpids.len() as u64, self.layout.directed_links() as u64);
        match (self.reading)() {
            Some(reading) => (reading.switches, reading.links) == (switches, links),
            None => self.network.probed_links as u64 == links,
        }
    }

    /// Has every host speak until the controller knows all; how many there are, and how long that
    /// took.
    fn announce(&mut self) -> Result<(usize, Option<f64>), LoadError> {
        let (hosts, start) = (self.layout.hosts.len(), Instant::now());
        let (mut announced, mut announced_at) = (0, start);
        while start.elapsed() < self.plan.limit {
            let elapsed = announced_at.elapsed().saturating_sub(FIRST_HOST_ALONE);
            let due = (elapsed.as_secs_f64() * HOSTS_A_SECOND as f64) as usize;
            while announced < due.clamp(1, hosts) {
                self.speak(announced);
                announced += 1;
            }
            self.step(|_, _| {})?;
            match (self.reading)() {
                Some(reading) if reading.hosts >= hosts as u64 => {
                    return Ok((hosts, Some(start.elapsed().as_secs_f64())));
                }
                None if announced == hosts => return Ok((hosts, None)),
                _ => {}
            }
            if announced == hosts && due > hosts + HOSTS_A_SECOND * ANNOUNCE_AGAIN.as_secs() as usize {
                (announced, announced_at) = (0, Instant::now());
            }
        }
        Ok((hosts, None))
    }

    /// The first host announces itself to all, and the others ask for its address, as for a gateway's.
    fn speak(&mut self, number: usize) {
        let ((index, host), (_, first)) = (self.layout.hosts[number], self.layout.hosts[0]);
        let frame = match (host.ip, first.ip) {
            (IpAddr::V4(own), IpAddr::V4(target)) => Arp::request(host.mac, own, target).frame(),
            _ => announcement(host, first),
        };
        self.network.send(index, &packet_in(host.port, ADMIT, &frame));
    }

    /// The network at rest, with connections, and then with more of them than the controller takes.
    fn watch(&mut self, report: &mut Report) -> Result<(), LoadError> {
        self.meter.cost(&self.network);
        self.wait(self.plan.hold)?;
        report.rest = self.meter.cost(&self.network);
        if let Some(rate) = self.plan.connections {
            report.connections = Some(self.open(rate, self.plan.hold, 0)?);
        }
        if !self.plan.overload.is_zero() {
            let before = report.connections.map_or(0, |busy| busy.connections.offered);
            report.overload = Some(self.open(OVERLOAD, self.plan.overload, before)?);
        }
        Ok(())
    }

    fn wait(&mut self, time: Duration) -> Result<(), LoadError> {
        let start = Instant::now();
        while start.elapsed() < time {
            self.step(|_, _| {})?;
        }
        Ok(())
    }

    /// Has hosts open connections, and then waits until every switch has an answer to what it asks.
    fn open(&mut self, rate: f64, time: Duration, before: u64) -> Result<Busy, LoadError> {
        let mut openers = Openers::new(&self.layout.hosts, rate, before);
        let (mut echoes, start) = (Echoes::new(self.layout.dpids.len()), Instant::now());
        while start.elapsed() < time {
            openers.open(&mut self.network);
            echoes.ask(&mut self.network);
            self.step(|index, received| {
                openers.note(received);
                echoes.heard(index, received.echoes);
            })?;
        }
        let (connections, echo) = (openers.result(), echoes.times());
        let answered_after = self.settle(&mut openers, &mut echoes)?;
        let answered = openers.result().answered;
        Ok(Busy { connections: Connections { answered, ..connections }, echo, answered_after })
    }

    /// Seconds until every switch has an answer to what it asks now.
    fn settle(&mut self, openers: &mut Openers<'_>, echoes: &mut Echoes) -> Result<Option<f64>, LoadError> {
        let start = Instant::now();
        echoes.ask_all(&mut self.network);
        while !echoes.are_answered() {
            if start.elapsed() > RECOVERY {
                return Ok(None);
            }
            self.step(|index, received| {
                openers.note(received);
                echoes.heard(index, received.echoes);
            })?;
        }
        Ok(Some(start.elapsed().as_secs_f64()))
    }

    /// Switches leave and join again, and one dies.
    fn disturb(&mut self, report: &mut Report) -> Result<(), LoadError> {
        if let Some(rate) = self.plan.rolling {
            report.rolling = Some(self.rejoin((0..self.layout.dpids.len()).collect(), rate)?);
        }
        if self.plan.pod {
            report.pod = Some(self.rejoin(rejoin::pod(self.layout), f64::INFINITY)?);
        }
        if self.plan.death {
            report.death = Some(self.kill()?);
        }
        Ok(())
    }

    /// Has so many of these switches leave a second; waits until the map is complete again, and the hosts are known.
    fn rejoin(&mut self, switches: Vec<usize>, rate: f64) -> Result<Rejoin, LoadError> {
        let (before, links) = (self.lost_links(), self.layout.directed_links() as u64);
        let mut leavers = Leavers::new(&self.network, switches, rate);
        let mut is_complete = false;
        while !is_complete && leavers.left_at().elapsed() < self.plan.limit {
            leavers.leave(&mut self.network);
            self.step(|_, _| {})?;
            let probed = self.network.probed_links as u64;
            let known = (self.reading)().map_or(probed, |reading| reading.links.min(probed));
            leavers.note(&self.network, links.saturating_sub(known));
            is_complete = leavers.are_back() && known == links && self.is_complete();
        }
        let result = leavers.result(&self.network, self.lost_links() - before, is_complete);
        if self.plan.hosts && is_complete {
            self.announce()?;
        }
        Ok(result)
    }

    /// Links that the controller has lost so far.
    fn lost_links(&self) -> u64 {
        let counted = (self.reading)().and_then(|reading| reading.lost_links).unwrap_or_default();
        counted.max(self.dropped)
    }

    fn kill(&mut self) -> Result<Death, LoadError> {
        self.wait_for_calm()?;
        let mut watch = death::Watch::kill(&mut self.network, death::victim(self.layout));
        while !watch.is_over() {
            self.step(|_, received| watch.note(received.changes))?;
        }
        Ok(watch.result())
    }

    fn wait_for_calm(&mut self) -> Result<(), LoadError> {
        let (start, mut last) = (Instant::now(), Instant::now());
        while last.elapsed() < CALM && start.elapsed() < RECOVERY {
            self.step(|_, received| {
                if received.changes > 0 {
                    last = Instant::now();
                }
            })?;
        }
        Ok(())
    }

    fn step(&mut self, mut received: impl FnMut(usize, &Received)) -> Result<(), LoadError> {
        self.network.serve(|index, news| received(index, &news))?;
        self.network.flush()?;
        if let Some(reading) = (self.reading)() {
            self.dropped += self.links.saturating_sub(reading.links);
            self.links = reading.links;
        }
        self.network.reopen()?;
        if self.meter.is_due() {
            let progress = self.meter.progress(&self.network, (self.reading)());
            (self.progress)(&progress);
        }
        Ok(())
    }

    fn finish(&self, report: &mut Report) {
        let reading = (self.reading)();
        report.known_links = reading.map_or(self.network.probed_links as u64, |reading| reading.links);
        report.lost_links = self.lost_links();
        report.known_hosts = reading.map(|reading| reading.hosts);
        report.alarms = reading.map_or(0, |reading| reading.alarms);
        report.closures = self.network.closures;
        report.peak_memory = self.plan.process.and_then(Usage::of).map(|usage| usage.peak_memory);
        report.own_peak_memory = Usage::own().peak_memory;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_without_hosts_and_networks_without_pods_are_refused_before_anything_is_done() {
        let plan = Plan {
            to: SocketAddr::from(([127, 0, 0, 1], 1)),
            limit: Duration::ZERO,
            hold: Duration::ZERO,
            hosts: true,
            connections: Some(1.0),
            overload: Duration::ZERO,
            rolling: None,
            pod: false,
            death: false,
            process: None,
        };
        let result = run(&Layout::default(), plan, &|| None, &mut |_| {});
        assert!(matches!(result, Err(LoadError::Impossible(_))), "{result:?}");
        let pod = Plan { connections: None, pod: true, ..plan };
        let result = run(&Layout::default(), pod, &|| None, &mut |_| {});
        assert!(matches!(result, Err(LoadError::Impossible(_))), "{result:?}");
    }
}
