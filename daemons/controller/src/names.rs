//! Names of switches, ports and hosts: as they are configured, and as switches call their ports.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use braid_control::{Event, NetworkNames, PortStatus};
use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::switch_metadata::{HostMetadata, SwitchMetadata, SwitchMetadataMap};

/// Switches whose ports have names; of more, those with the lowest datapath ids have only numbers.
const MAX_SWITCHES: usize = 8_192;
/// Ports of a switch that have names, likewise.
const MAX_PORTS: usize = 1_024;
/// The longest name of a port: a field of OpenFlow has 16 bytes.
const MAX_PORT_NAME: usize = 16;

/// All names. A copy costs two counters, and is not changed by what happens later.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    configured: Arc<Configured>,
    ports: Arc<BTreeMap<DatapathId, Arc<PortNames>>>,
}

/// The names of the ports of a switch.
type PortNames = BTreeMap<PortNo, String>;

#[derive(Default, Debug)]
struct Configured {
    switches: SwitchMetadataMap,
    by_name: BTreeMap<String, DatapathId>,
    hosts: HostMetadata,
}

impl Names {
    pub(crate) fn new(switches: SwitchMetadataMap, hosts: HostMetadata) -> Self {
        let named = switches.iter().filter_map(|(dpid, it)| Some((it.name.clone()?, *dpid)));
        let by_name = named.collect();
        Self { configured: Arc::new(Configured { switches, by_name, hosts }), ports: Arc::default() }
    }

    /// Learns the names of ports from what a switch says.
    pub(crate) fn learn(&mut self, event: &Event<'_>) {
        match event {
            Event::SwitchUp(switch) => {
                let ports: PortNames = switch.ports.iter().filter_map(named).take(MAX_PORTS).collect();
                if self.ports.get(&switch.dpid).is_none_or(|known| **known != ports) {
                    *self.ports_of(switch.dpid) = Arc::new(ports);
                }
            }
            Event::PortUp { dpid, port } => self.learn_port(*dpid, port),
            _ => {}
        }
    }

    fn learn_port(&mut self, dpid: DatapathId, port: &PortStatus) {
        let Some((number, name)) = named(port) else { return };
        let known = self.ports.get(&dpid);
        let is_full = known.is_some_and(|it| it.len() >= MAX_PORTS && !it.contains_key(&number));
        if !is_full && known.and_then(|ports| ports.get(&number)) != Some(&name) {
            Arc::make_mut(self.ports_of(dpid)).insert(number, name);
        }
    }

    /// The ports of a switch, to be changed. They are copied only where somebody has the former names.
    fn ports_of(&mut self, dpid: DatapathId) -> &mut Arc<PortNames> {
        let all = Arc::make_mut(&mut self.ports);
        if all.len() >= MAX_SWITCHES && !all.contains_key(&dpid) {
            all.pop_first();
        }
        all.entry(dpid).or_default()
    }

    /// Whether both are of the same moment.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.configured, &other.configured) && Arc::ptr_eq(&self.ports, &other.ports)
    }

    /// The metadata of a switch.
    pub(crate) fn metadata(&self, dpid: DatapathId) -> SwitchMetadata {
        self.configured.switches.get(&dpid).cloned().unwrap_or_default()
    }

    /// The switches that are configured, or have joined.
    pub(crate) fn known_switches(&self) -> BTreeSet<DatapathId> {
        self.configured.switches.keys().chain(self.ports.keys()).copied().collect()
    }

    /// The name of a switch, or its datapath id without leading zeros.
    pub(crate) fn label(&self, dpid: DatapathId) -> String {
        self.switch(dpid).map_or_else(|| format!("{:x}", dpid.0), str::to_owned)
    }

    /// A port by its switch and its name there, or its number.
    pub(crate) fn port_label(&self, at: SwitchPort) -> String {
        let port = self.port(at).map_or_else(|| at.port.to_string(), str::to_owned);
        format!("{}:{port}", self.label(at.dpid))
    }

    /// The labels of the switches of a path; none where none of them has a name.
    pub(crate) fn path_labels(&self, path: &[DatapathId]) -> Vec<String> {
        let is_named = path.iter().any(|dpid| self.switch(*dpid).is_some());
        path.iter().filter(|_| is_named).map(|dpid| self.label(*dpid)).collect()
    }

    /// Whether hosts have names.
    pub(crate) fn has_hosts(&self) -> bool {
        !self.configured.hosts.is_empty()
    }

    /// The name of the host that is attached to a port.
    pub(crate) fn host_at(&self, at: SwitchPort) -> Option<&str> {
        self.configured.hosts.by_port.get(&at).map(String::as_str)
    }

    /// The name of the host with an address.
    pub(crate) fn host_with(&self, address: IpAddr) -> Option<&str> {
        self.configured.hosts.by_address.get(&address).map(String::as_str)
    }

    /// The ports and the addresses of the host of this name.
    pub(crate) fn host_called<'a>(
        &'a self,
        name: &'a str,
    ) -> (impl Iterator<Item = SwitchPort> + 'a, impl Iterator<Item = IpAddr> + 'a) {
        let HostMetadata { by_port, by_address } = &self.configured.hosts;
        let ports = by_port.iter().filter(move |(_, it)| *it == name).map(|(at, _)| *at);
        (ports, by_address.iter().filter(move |(_, it)| *it == name).map(|(address, _)| *address))
    }

    /// The switch of this name, or with this text as its datapath id.
    pub(crate) fn switch_called(&self, text: &str) -> Option<DatapathId> {
        self.configured.by_name.get(text).copied().or_else(|| text.parse().ok())
    }

    /// The port SWITCH:PORT, by names or numbers. A name of a port may have colons of its own.
    pub(crate) fn port_called(&self, text: &str) -> Option<SwitchPort> {
        text.match_indices(':').find_map(|(at, _)| {
            let (dpid, port) = (self.switch_called(&text[..at])?, &text[at + 1..]);
            let names = self.ports.get(&dpid);
            let called = |(number, name): (&PortNo, &String)| {
                (name == port || self.short(dpid, name) == port).then_some(*number)
            };
            let number = names.and_then(|names| names.iter().find_map(called));
            Some(SwitchPort::new(dpid, number.or_else(|| port.parse().ok().map(PortNo))?))
        })
    }

    /// The name of a port without the name of its switch: `eth1` for `s1-eth1` of `s1`.
    fn short<'a>(&self, dpid: DatapathId, name: &'a str) -> &'a str {
        let own = |switch| name.strip_prefix(switch)?.strip_prefix('-');
        self.switch(dpid).and_then(own).filter(|rest| !rest.is_empty()).unwrap_or(name)
    }
}

impl NetworkNames for Names {
    fn switch(&self, dpid: DatapathId) -> Option<&str> {
        self.configured.switches.get(&dpid)?.name.as_deref()
    }

    fn port(&self, at: SwitchPort) -> Option<&str> {
        let name = self.ports.get(&at.dpid)?.get(&at.port)?;
        Some(self.short(at.dpid, name))
    }
}

/// The number and the name of a port, if that can be shown: switches may send anything.
fn named(port: &PortStatus) -> Option<(PortNo, String)> {
    let name = &port.name;
    let is_name = !name.is_empty()
        && name.len() <= MAX_PORT_NAME
        && name.chars().all(|it| it.is_alphanumeric() || "-_.:/@+#".contains(it));
    is_name.then(|| (port.port, name.clone()))
}

#[cfg(test)]
mod tests {
    use braid_control::SwitchPorts;
    use braid_types::{BitsPerSec, MacAddr};

    use super::*;
    use crate::engine::tests::blank_switch;

    fn status(number: u32, name: &str) -> PortStatus {
        let (port, mac, name) = (PortNo(number), MacAddr::ZERO, name.to_owned());
        PortStatus { port, mac, name, up: true, speed: BitsPerSec(0) }
    }

    fn up(dpid: u64, ports: &[&str]) -> Event<'static> {
        Event::SwitchUp(SwitchPorts {
            ports: (1..).zip(ports).map(|(number, name)| status(number, name)).collect(),
            ..blank_switch(DatapathId(dpid))
        })
    }

    const fn at(dpid: u64, port: u32) -> SwitchPort {
        SwitchPort::new(DatapathId(dpid), PortNo(port))
    }

    /// Switch 1 is `ams1`, switch 2 has no name; host `dtn` is at two ports of switch 1.
    fn names() -> Names {
        let ams1 = SwitchMetadata { name: Some("ams1".to_owned()), ..SwitchMetadata::default() };
        let by_port = [at(1, 7), at(1, 8)].map(|at| (at, "dtn".to_owned())).into();
        let hosts = HostMetadata { by_port, ..HostMetadata::default() };
        let mut names = Names::new([(DatapathId(1), ams1)].into(), hosts);
        names.learn(&up(1, &["eth1", "ams1-gva1", "ams1-"]));
        names.learn(&up(2, &["eth1"]));
        names
    }

    #[test]
    fn ports_are_shown_by_the_names_of_their_switch_and_their_own() {
        let names = names();
        let labels = [at(1, 1), at(1, 2), at(1, 3), at(1, 4), at(2, 1), at(0x2a, 9)];
        let labels = labels.map(|at| names.port_label(at));
        assert_eq!(labels, ["ams1:eth1", "ams1:gva1", "ams1:ams1-", "ams1:4", "2:eth1", "2a:9"]);
        assert_eq!(names.path_labels(&[DatapathId(1), DatapathId(2)]), ["ams1", "2"]);
        assert!(names.path_labels(&[DatapathId(2)]).is_empty());
    }

    #[test]
    fn whatever_is_shown_is_understood() {
        let names = names();
        for port in [at(1, 1), at(1, 2), at(1, 4), at(2, 1), at(0x2a, 9)] {
            assert_eq!(names.port_called(&names.port_label(port)), Some(port));
            assert_eq!(names.port_called(&port.to_string()), Some(port));
        }
        assert_eq!(names.port_called("ams1:ams1-gva1"), Some(at(1, 2)));
        assert_eq!((names.port_called("ams1:nothing"), names.port_called("gva1:1")), (None, None));
        assert_eq!(names.switch_called("ams1"), Some(DatapathId(1)));
        assert_eq!(names.host_called("dtn").0.collect::<Vec<_>>(), [at(1, 7), at(1, 8)]);
    }

    #[test]
    fn a_port_that_is_renamed_has_its_new_name_and_copies_keep_the_old_one() {
        let mut names = names();
        let before = names.clone();
        names.learn(&Event::PortUp { dpid: DatapathId(1), port: status(1, "uplink") });
        assert_eq!((names.port(at(1, 1)), before.port(at(1, 1))), (Some("uplink"), Some("eth1")));
        assert!(!names.is(&before) && names.is(&names.clone()));
    }

    #[test]
    fn a_name_that_could_mislead_whoever_reads_it_is_none() {
        let mut names = Names::default();
        names.learn(&up(1, &["", "a b", "\u{1b}[31m", "\u{fffd}", "eth1\n", "a-name-that-is-too-long"]));
        assert!((1..=6).all(|port| names.port(at(1, port)).is_none()));
    }

    #[test]
    fn the_number_of_names_is_bounded() {
        let mut names = Names::default();
        for number in 0..MAX_PORTS as u32 + 5 {
            names.learn(&Event::PortUp { dpid: DatapathId(0), port: status(number, "eth1") });
        }
        assert_eq!(names.ports[&DatapathId(0)].len(), MAX_PORTS);
        (0..MAX_SWITCHES as u64 + 5).for_each(|dpid| names.learn(&up(dpid, &["eth1"])));
        assert_eq!(names.known_switches().len(), MAX_SWITCHES);
        assert_eq!(names.port(at(MAX_SWITCHES as u64 + 4, 1)), Some("eth1"));
    }
}
