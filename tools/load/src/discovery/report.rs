//! What a run reports while it goes on, and at its end.

use serde::Serialize;

use super::connections::Connections;
use super::death::Death;
use super::echoes::EchoTimes;
use super::rejoin::Rejoin;

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

impl Reading {
    /// From a Braid controller's metrics without labels.
    pub fn of(metric: impl Fn(&str) -> Option<u64>) -> Self {
        let value = |name: &str| metric(name).unwrap_or_default();
        Self {
            switches: value("braid_switches"),
            links: value("braid_links"),
            hosts: value("braid_hosts"),
            lost_links: metric("braid_links_lost_total"),
            alarms: value("braid_alarms_total"),
        }
    }
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

/// A phase in which hosts open connections.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Busy {
    /// The connections.
    pub connections: Connections,
    /// Echo requests of the switches meanwhile.
    pub echo: EchoTimes,
    /// Seconds from its end until every switch had an answer to what it asked then; `None` if not within a minute.
    pub answered_after: Option<f64>,
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
    /// The cost at rest.
    pub rest: Cost,
    /// Connections at the rate that was asked for.
    pub connections: Option<Busy>,
    /// Connections at a rate that no controller takes.
    pub overload: Option<Busy>,
    /// All switches left and joined again, after everything above was counted.
    pub rolling: Option<Rejoin>,
    /// The switches of a pod did so in the same moment, likewise.
    pub pod: Option<Rejoin>,
    /// The death of a switch, likewise.
    pub death: Option<Death>,
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
            (self.unanswered(), "connections of hosts got no answer"),
        ] {
            if count > 0 {
                failures.push(format!("{count} {what}"));
            }
        }
        for (name, rejoin) in [("rolling", self.rolling), ("pod", self.pod)] {
            failures.extend(rejoin.iter().flat_map(|it| it.failures(name)));
        }
        failures
    }

    /// Connections at the rate that was asked for whose first packet was not sent on.
    fn unanswered(&self) -> u64 {
        let connections = self.connections.map(|busy| busy.connections).unwrap_or_default();
        connections.offered.saturating_sub(connections.answered)
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
