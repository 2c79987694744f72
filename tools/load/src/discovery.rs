//! A whole network comes up: when its map is complete, whether it stays so, and what that costs.
//!
//! Every switch connects, and every discovery frame arrives at the neighbour at once. A controller that can be
//! asked says how many links it knows. Of others it is only known which links their frames have passed.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use braid_packet::arp::Arp;
use serde::Serialize;

use crate::error::LoadError;
use crate::layout::Layout;
use crate::network::Network;
use crate::packets::{ADMIT, announcement, packet_in};
use crate::usage::Usage;

/// The interval of progress reports.
const INTERVAL: Duration = Duration::from_secs(1);
/// Hosts that speak in one second.
const HOSTS_A_SECOND: usize = 1_000;
/// How long the first host is alone.
const FIRST_HOST_ALONE: Duration = Duration::from_secs(1);
/// How long hosts wait before they speak again.
const ANNOUNCE_AGAIN: Duration = Duration::from_secs(10);

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Where the controller listens for switches.
    pub to: SocketAddr,
    /// How long the map may take to be complete, and then the hosts to be known.
    pub limit: Duration,
    /// How long to watch it afterwards.
    pub hold: Duration,
    /// Whether hosts speak ARP once the map is complete.
    pub hosts: bool,
    /// The controller's process, on this machine.
    pub process: Option<u32>,
}

/// What a controller says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Reading {
    /// Connected switches.
    pub switches: u64,
    /// Directed links that it knows.
    pub links: u64,
    /// Hosts that it knows.
    pub hosts: u64,
    /// Directed links that it has lost so far, where it counts them.
    pub lost_links: Option<u64>,
    /// Alarms so far.
    pub alarms: u64,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Seconds since the first switch connected.
    pub seconds: f64,
    /// Switches whose ports the controller has read.
    pub switches: usize,
    /// Directed links that a discovery frame has passed.
    pub probed_links: usize,
    /// Discovery frames in the last second.
    pub frames: u64,
    /// What the controller says.
    pub reading: Option<Reading>,
    /// Cores that the controller has used in the last second.
    pub cores: Option<f64>,
    /// Bytes of memory that the controller has.
    pub memory: Option<u64>,
    /// Cores that the emulated network has used in the last second.
    pub own_cores: f64,
}

/// What a phase of a run cost.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// Its length.
    pub seconds: f64,
    /// Discovery frames a second.
    pub frames_per_second: f64,
    /// Cores that the controller used, on average.
    pub cores: Option<f64>,
    /// Cores that the emulated network used, on average.
    pub own_cores: f64,
}

/// What came of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Switches.
    pub switches: usize,
    /// Directed links between them.
    pub directed_links: usize,
    /// Hosts that spoke.
    pub hosts: usize,
    /// Seconds until every link was known; `None` if they never were.
    pub complete_after: Option<f64>,
    /// Seconds from then until every host was known; `None` if they never were, or nobody was asked.
    pub hosts_after: Option<f64>,
    /// The links that were known at the end, or that frames had passed.
    pub known_links: u64,
    /// The hosts that were known at the end; `None` if nobody was asked.
    pub known_hosts: Option<u64>,
    /// Links that were known and then not any more.
    pub lost_links: u64,
    /// Alarms.
    pub alarms: u64,
    /// Connections of switches that the controller closed.
    pub closures: u64,
    /// The cost until the map was complete.
    pub mapping: Cost,
    /// The cost afterwards.
    pub rest: Cost,
    /// The most bytes of memory that the controller had.
    pub peak_memory: Option<u64>,
    /// The most bytes of memory that the emulated network had.
    pub own_peak_memory: u64,
}

impl Report {
    /// What a network that comes up and stays up does not show; empty if all is well.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        if self.complete_after.is_none() {
            failures.push(format!("{} of {} links were found", self.known_links, self.directed_links));
        } else if self.known_links != self.directed_links as u64 {
            failures
                .push(format!("{} of {} links were known at the end", self.known_links, self.directed_links));
        }
        if let Some(known) = self.known_hosts.filter(|known| *known < self.hosts as u64) {
            failures.push(format!("{known} of {} hosts were known at the end", self.hosts));
        }
        for (count, what) in [
            (self.lost_links, "links were lost"),
            (self.alarms, "alarms were raised"),
            (self.closures, "connections of switches were closed"),
        ] {
            if count > 0 {
                failures.push(format!("{count} {what}"));
            }
        }
        failures
    }
}

/// Brings the network up and watches it.
///
/// `reading` is what the controller last said of itself, and `progress` gets a report a second.
///
/// # Errors
/// Nobody listens, or the system refuses.
pub fn run(
    layout: &Layout,
    plan: Plan,
    reading: &dyn Fn() -> Option<Reading>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, LoadError> {
    let network = Network::new(plan.to, layout)?;
    let meter = Meter::new(plan.process);
    let mut run = Run { layout, plan, network, meter, reading, progress, links: 0, dropped: 0 };
    let mut report = run.map()?;
    if report.complete_after.is_some() {
        if plan.hosts && !layout.hosts.is_empty() {
            (report.hosts, report.hosts_after) = run.announce()?;
        }
        report.rest = run.watch(plan.hold)?;
    }
    run.finish(&mut report);
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
            self.step()?;
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
            self.step()?;
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

    fn watch(&mut self, time: Duration) -> Result<Cost, LoadError> {
        self.meter.cost(&self.network);
        let start = Instant::now();
        while start.elapsed() < time {
            self.step()?;
        }
        Ok(self.meter.cost(&self.network))
    }

    fn step(&mut self) -> Result<(), LoadError> {
        self.network.serve(|_, _| {})?;
        self.network.flush()?;
        if let Some(reading) = (self.reading)() {
            self.dropped += self.links.saturating_sub(reading.links);
            self.links = reading.links;
        }
        if self.meter.is_due() {
            self.network.reopen()?;
            let progress = self.meter.progress(&self.network, (self.reading)());
            (self.progress)(&progress);
        }
        Ok(())
    }

    fn finish(&self, report: &mut Report) {
        let reading = (self.reading)();
        report.known_links = reading.map_or(self.network.probed_links as u64, |reading| reading.links);
        let counted = reading.and_then(|reading| reading.lost_links).unwrap_or_default();
        report.lost_links = counted.max(self.dropped);
        report.known_hosts = reading.map(|reading| reading.hosts);
        report.alarms = reading.map_or(0, |reading| reading.alarms);
        report.closures = self.network.closures;
        report.peak_memory = self.plan.process.and_then(Usage::of).map(|usage| usage.peak_memory);
        report.own_peak_memory = Usage::own().peak_memory;
    }
}

/// What the controller and this process have used since some time.
struct Meter {
    process: Option<u32>,
    start: Instant,
    phase: Mark,
    last: Mark,
}

#[derive(Clone, Copy)]
struct Mark {
    at: Instant,
    frames: u64,
    theirs: Option<Duration>,
    own: Duration,
}

impl Mark {
    fn now(process: Option<u32>, frames: u64) -> Self {
        let theirs = process.and_then(Usage::of).map(|usage| usage.on_core);
        Self { at: Instant::now(), frames, theirs, own: Usage::own().on_core }
    }

    fn until(&self, later: &Self) -> Cost {
        let seconds = later.at.duration_since(self.at).as_secs_f64().max(1e-9);
        let cores =
            |earlier: Duration, later: Duration| later.saturating_sub(earlier).as_secs_f64() / seconds;
        Cost {
            seconds,
            frames_per_second: (later.frames - self.frames) as f64 / seconds,
            cores: self.theirs.zip(later.theirs).map(|(earlier, later)| cores(earlier, later)),
            own_cores: cores(self.own, later.own),
        }
    }
}

impl Meter {
    fn new(process: Option<u32>) -> Self {
        let mark = Mark::now(process, 0);
        Self { process, start: mark.at, phase: mark, last: mark }
    }

    fn is_due(&self) -> bool {
        self.last.at.elapsed() >= INTERVAL
    }

    /// The cost since the last call.
    fn cost(&mut self, network: &Network) -> Cost {
        let now = Mark::now(self.process, network.frames);
        std::mem::replace(&mut self.phase, now).until(&now)
    }

    fn progress(&mut self, network: &Network, reading: Option<Reading>) -> Progress {
        let now = Mark::now(self.process, network.frames);
        let cost = std::mem::replace(&mut self.last, now).until(&now);
        Progress {
            seconds: self.start.elapsed().as_secs_f64(),
            switches: network.switches.iter().filter(|switch| switch.is_up).count(),
            probed_links: network.probed_links,
            frames: cost.frames_per_second.round() as u64,
            reading,
            cores: cost.cores,
            memory: self.process.and_then(Usage::of).map(|usage| usage.memory),
            own_cores: cost.own_cores,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_nobody_knows_are_a_failure_like_links() {
        let complete = Report {
            directed_links: 64,
            known_links: 64,
            complete_after: Some(1.0),
            hosts: 16,
            known_hosts: Some(16),
            ..Report::default()
        };
        assert_eq!(complete.failures(), <[&str; 0]>::default());
        let lacking = Report { known_hosts: Some(15), ..complete.clone() };
        assert_eq!(lacking.failures(), ["15 of 16 hosts were known at the end"]);
        let unasked = Report { known_hosts: None, ..complete };
        assert_eq!(unasked.failures(), <[&str; 0]>::default());
    }
}
