//! Readiness of a lab: its switches are connected, its links are known, its hosts reach each other.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use braid_types::SwitchPort;

use crate::controller::{Client, ControllerAddresses, leader};
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::{AddressPair, Scenario};
use crate::system::Namespace;

/// Discovery takes a second or two; on a busy machine more.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// And in a large network.
const READY_TIMEOUT_PER_SWITCH: Duration = Duration::from_millis(1_500);

/// Waits until `lab` with its controller, if it has one, can carry the traffic of `scenario`.
pub(crate) fn wait(
    lab: &Deployed,
    controller: Option<&ControllerAddresses>,
    scenario: &Scenario,
    interrupt: &Interrupt,
) -> Result<(), LabError> {
    let switches = u32::try_from(lab.plan.switches.len()).unwrap_or(u32::MAX);
    let timeout = READY_TIMEOUT.saturating_add(READY_TIMEOUT_PER_SWITCH.saturating_mul(switches));
    let waiting = Waiting { lab, interrupt, timeout, deadline: Instant::now() + timeout };
    if let Some(controller) = controller {
        waiting.until(|| missing_members(controller))?;
        waiting.until(|| {
            controller.members.iter().find_map(|it| missing_switches(lab, &Client::of_member(it.http)))
        })?;
        let client = controller.client();
        waiting.until(|| missing_switches(lab, &client))?;
        waiting.until(|| missing_links(lab, &client))?;
        // Streams are distributed by what is known of paths.
        if scenario.traffic.as_ref().is_some_and(|traffic| traffic.assign.is_some()) {
            waiting.until(|| missing_delays(&client))?;
        }
    }
    let traffic = scenario.traffic.iter().flat_map(|traffic| &traffic.directions);
    for direction in traffic {
        for pair in scenario.topology.address_pairs(direction) {
            waiting.for_hosts(direction.from, direction.to, pair)?;
        }
    }
    Ok(())
}

struct Waiting<'a> {
    lab: &'a Deployed,
    interrupt: &'a Interrupt,
    timeout: Duration,
    deadline: Instant,
}

impl Waiting<'_> {
    /// Asks `missing` until nothing is, or time runs out.
    fn until(&self, mut missing: impl FnMut() -> Option<String>) -> Result<(), LabError> {
        let mut last = None;
        let ready = || {
            last = missing();
            Ok(last.is_none().then_some(()))
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let done = self.interrupt.poll(left, ready)?;
        match (done, last) {
            (None, Some(missing)) => {
                let logs = self.lab.folder.log();
                Err(LabError::NotReady { seconds: self.timeout.as_secs(), missing, logs })
            }
            _ => Ok(()),
        }
    }

    /// Waits until a datagram passes in both directions, from which the controller also learns where both hosts are.
    fn for_hosts(&self, from: usize, to: usize, pair: AddressPair) -> Result<(), LabError> {
        let (sender, receiver) = (self.socket(from, pair.source)?, self.socket(to, pair.destination)?);
        let target =
            receiver.local_addr().map_err(|error| LabError::io("asking a socket its address", error))?;
        let mut received = false;
        self.until(|| {
            received = received || exchanged(&sender, &receiver, target).unwrap_or(false);
            let missing = || format!("{} cannot reach {}", pair.source, pair.destination);
            (!received).then(missing)
        })
    }

    fn socket(&self, host: usize, address: IpAddr) -> Result<UdpSocket, LabError> {
        let namespace = Namespace::named(&self.lab.plan.hosts[host].namespace);
        let socket = namespace.udp_socket(address)?;
        let set = socket.set_nonblocking(true);
        set.map_err(|error| LabError::io("setting up a socket", error)).map(|()| socket)
    }
}

// An address that is not resolved yet is an error like any other: the next turn tries again.
fn exchanged(sender: &UdpSocket, receiver: &UdpSocket, target: SocketAddr) -> io::Result<bool> {
    let mut buffer = [0; 8];
    if let Ok((_, source)) = receiver.recv_from(&mut buffer) {
        receiver.send_to(b"braid", source)?;
    }
    if sender.recv_from(&mut buffer).is_ok() {
        return Ok(true);
    }
    sender.send_to(b"braid", target).map(|_| false)
}

/// Of a cluster one member leads, which has heard of all the others.
fn missing_members(controller: &ControllerAddresses) -> Option<String> {
    if controller.members.is_empty() {
        return None;
    }
    let Some(leader) = leader(&controller.members) else { return Some("no controller leads".to_owned()) };
    let seen = match Client::of_member(leader.http).cluster() {
        Ok(seen) => seen,
        Err(error) => return Some(format!("the controller does not answer ({error})")),
    };
    let hears = |name: &str| seen.members.iter().any(|it| it.name == name && it.last_heard.is_some());
    let missing = controller.members.iter().filter(|it| it.name != leader.name && !hears(&it.name));
    list("controllers do not stand by", missing.map(|member| member.name.clone()))
}

fn missing_switches(lab: &Deployed, client: &Client) -> Option<String> {
    let connected = match client.switches() {
        Ok(connected) => connected,
        Err(error) => return Some(format!("the controller does not answer ({error})")),
    };
    let missing = lab.plan.switches.iter().filter(|switch| !connected.contains(&switch.dpid));
    list("switches are not connected", missing.map(|switch| switch.name.clone()))
}

fn missing_links(lab: &Deployed, client: &Client) -> Option<String> {
    let found = match client.links() {
        Ok(found) => found,
        Err(error) => return Some(format!("the controller does not answer ({error})")),
    };
    let missing = lab.plan.switch_links().filter(|[src, dst]| {
        let ends = [src, dst].map(|(dpid, port)| SwitchPort::new(*dpid, *port));
        !found.iter().any(|link| [link.src, link.dst] == ends)
    });
    list(
        "links are not found",
        missing.map(|[(dpid, port), _]| format!("from {}", SwitchPort::new(dpid, port))),
    )
}

fn missing_delays(client: &Client) -> Option<String> {
    let links = client.links().unwrap_or_default();
    let unknown = links.iter().filter(|link| link.delay_us.is_none());
    list("delays are not measured", unknown.map(|link| format!("from {}", link.src)))
}

fn list(what: &str, items: impl Iterator<Item = String>) -> Option<String> {
    let items: Vec<_> = items.collect();
    (!items.is_empty()).then(|| format!("these {what}: {}", items.join(", ")))
}
