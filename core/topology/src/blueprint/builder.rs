//! The builder of blueprints, which numbers ports and refuses impossible networks.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use braid_types::{DatapathId, PortNo};

use super::{
    Blueprint, BlueprintError, End, Host, Interface, Link, MAX_HOSTS, MAX_LINKS, MAX_NAME, MAX_SWITCHES,
    Place, Position, Switch,
};
use crate::LinkState;

/// The builder of a [`Blueprint`], which refuses impossible networks.
#[derive(Debug)]
pub struct Builder {
    name: String,
    switches: Vec<NewSwitch>,
    links: Vec<([Plug; 2], [Option<LinkState>; 2])>,
    hosts: Vec<(String, Vec<NewInterface>)>,
    interfaces: usize,
    by_name: BTreeMap<String, Place>,
    by_dpid: BTreeMap<DatapathId, usize>,
    ports: BTreeSet<(usize, PortNo)>,
}

/// A switch to be added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewSwitch {
    /// Unique among switches and hosts.
    pub name: String,
    /// Unique among switches; by default the switch's position from 1, or a higher unused number.
    pub dpid: Option<DatapathId>,
    /// Its position on Earth.
    pub position: Option<Position>,
    /// The group that it belongs to, such as a pod or a layer.
    pub group: Option<String>,
}

/// One end of a link to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plug {
    /// The switch's index.
    pub switch: usize,
    /// Its port; by default the lowest free number from 1, first for the links in order, then for the hosts.
    pub port: Option<PortNo>,
}

/// An interface of a host to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewInterface {
    /// The switch port at the other end of its link.
    pub plug: Plug,
    /// The state of the direction from the host, and of the direction to it.
    pub states: [LinkState; 2],
}

impl NewSwitch {
    /// A switch with this name and defaults.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

impl From<usize> for Plug {
    fn from(switch: usize) -> Self {
        Self { switch, port: None }
    }
}

impl From<End> for Plug {
    fn from(end: End) -> Self {
        Self { switch: end.switch, port: Some(end.port) }
    }
}

impl Builder {
    pub(super) const fn new(name: String) -> Self {
        Self {
            name,
            switches: Vec::new(),
            links: Vec::new(),
            hosts: Vec::new(),
            interfaces: 0,
            by_name: BTreeMap::new(),
            by_dpid: BTreeMap::new(),
            ports: BTreeSet::new(),
        }
    }

    /// Adds a switch and returns its index.
    ///
    /// # Errors
    ///
    /// [`BlueprintError`] if the name or the datapath id is taken, the name is invalid, or a bound is reached.
    pub fn switch(&mut self, switch: NewSwitch) -> Result<usize, BlueprintError> {
        let index = self.switches.len();
        within("switches", index, MAX_SWITCHES)?;
        self.check_name(&switch.name)?;
        if let Some(dpid) = switch.dpid {
            self.check_dpid(dpid, &switch.name)?;
            self.by_dpid.insert(dpid, index);
        }
        self.by_name.insert(switch.name.clone(), Place::Switch(index));
        self.switches.push(switch);
        Ok(index)
    }

    /// Adds a link with the same state in both directions.
    ///
    /// # Errors
    ///
    /// As [`Builder::directed_link`].
    pub fn link(
        &mut self,
        a: impl Into<Plug>,
        b: impl Into<Plug>,
        state: LinkState,
    ) -> Result<(), BlueprintError> {
        self.directed_link([a.into(), b.into()], [Some(state); 2])
    }

    /// Adds a link; the first state is that of the direction from the first end, `None` for a missing direction.
    ///
    /// # Errors
    ///
    /// [`BlueprintError`] if a switch does not exist, both are the same, a port is taken or invalid, there is no direction,
    /// or a bound is reached.
    pub fn directed_link(
        &mut self,
        plugs: [Plug; 2],
        states: [Option<LinkState>; 2],
    ) -> Result<(), BlueprintError> {
        within("links", self.links.len(), MAX_LINKS)?;
        let [a, b] = plugs;
        let [first, second] = [self.check_plug(a)?, self.check_plug(b)?];
        if a.switch == b.switch {
            return Err(BlueprintError::SelfLoop(first.to_owned()));
        }
        if states == [None; 2] {
            return Err(BlueprintError::NoDirection(first.to_owned(), second.to_owned()));
        }
        self.ports.extend(plugs.iter().filter_map(|plug| Some((plug.switch, plug.port?))));
        self.links.push((plugs, states));
        Ok(())
    }

    /// Adds a host with one interface at each of these switches, with the same state in both directions.
    ///
    /// # Errors
    ///
    /// As [`Builder::host_with`].
    pub fn host(
        &mut self,
        name: impl Into<String>,
        switches: impl IntoIterator<Item = usize>,
        state: LinkState,
    ) -> Result<(), BlueprintError> {
        let interfaces = switches.into_iter();
        let interfaces = interfaces.map(|switch| NewInterface { plug: switch.into(), states: [state; 2] });
        self.host_with(name, interfaces.collect())
    }

    /// Adds a host.
    ///
    /// # Errors
    ///
    /// [`BlueprintError`] if the name is taken or invalid, there is no interface, a switch does not exist, a port is taken or
    /// invalid, or a bound is reached.
    pub fn host_with(
        &mut self,
        name: impl Into<String>,
        interfaces: Vec<NewInterface>,
    ) -> Result<(), BlueprintError> {
        let name = name.into();
        self.check_name(&name)?;
        if interfaces.is_empty() {
            return Err(BlueprintError::NoInterface(name));
        }
        let total = self.interfaces.saturating_add(interfaces.len());
        if total > MAX_HOSTS {
            return Err(BlueprintError::TooMany { what: "interfaces of hosts", limit: MAX_HOSTS });
        }
        self.claim(&interfaces)?;
        self.interfaces = total;
        self.by_name.insert(name.clone(), Place::Host(self.hosts.len()));
        self.hosts.push((name, interfaces));
        Ok(())
    }

    /// Builds the network and assigns the missing numbers.
    pub fn build(mut self) -> Blueprint {
        let switches = self.number_switches();
        let mut ports = Ports { taken: self.ports, last: vec![0; switches.len()] };
        let lay = |(plugs, states): ([Plug; 2], _)| Link { ends: plugs.map(|plug| ports.end(plug)), states };
        let links = self.links.into_iter().map(lay).collect();
        let mut attach = |new: NewInterface| Interface { end: ports.end(new.plug), states: new.states };
        let hosts = self.hosts.into_iter().map(|(name, interfaces)| Host {
            name,
            interfaces: interfaces.into_iter().map(&mut attach).collect(),
        });
        let hosts = hosts.collect();
        let (name, by_name, by_dpid) = (self.name, self.by_name, self.by_dpid);
        Blueprint { name, switches, hosts, links, by_name, by_dpid }
    }

    fn number_switches(&mut self) -> Vec<Switch> {
        let mut switches = Vec::with_capacity(self.switches.len());
        let mut last = 0;
        for (index, new) in mem::take(&mut self.switches).into_iter().enumerate() {
            let dpid = new.dpid.unwrap_or_else(|| self.next_dpid(index, &mut last));
            self.by_dpid.insert(dpid, index);
            switches.push(Switch { name: new.name, dpid, position: new.position, group: new.group });
        }
        switches
    }

    // Numbers only rise, so the total cost is linear in the switches.
    fn next_dpid(&self, index: usize, last: &mut u64) -> DatapathId {
        *last = (index as u64).max(*last) + 1;
        while self.by_dpid.contains_key(&DatapathId(*last)) {
            *last += 1;
        }
        DatapathId(*last)
    }

    fn check_name(&self, name: &str) -> Result<(), BlueprintError> {
        if name.is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
            return Err(BlueprintError::BadName(name.chars().take(MAX_NAME).collect()));
        }
        if self.by_name.contains_key(name) {
            return Err(BlueprintError::RepeatedName(name.to_owned()));
        }
        Ok(())
    }

    fn check_dpid(&self, dpid: DatapathId, name: &str) -> Result<(), BlueprintError> {
        let Some(first) = self.by_dpid.get(&dpid) else { return Ok(()) };
        let first = self.name_at(*first)?.to_owned();
        Err(BlueprintError::RepeatedDatapath { dpid, first, second: name.to_owned() })
    }

    /// Checks that the switch exists, and returns its name.
    fn check_plug(&self, plug: Plug) -> Result<&str, BlueprintError> {
        let name = self.name_at(plug.switch)?;
        match plug.port {
            Some(port) if !port.is_physical() => {
                Err(BlueprintError::NotAPort { switch: name.to_owned(), port })
            }
            Some(port) if self.ports.contains(&(plug.switch, port)) => {
                Err(BlueprintError::RepeatedPort { switch: name.to_owned(), port })
            }
            _ => Ok(name),
        }
    }

    fn name_at(&self, index: usize) -> Result<&str, BlueprintError> {
        let unknown = BlueprintError::UnknownSwitch { index, have: self.switches.len() };
        self.switches.get(index).map(|switch| switch.name.as_str()).ok_or(unknown)
    }

    /// Reserves the ports of all interfaces, or none.
    fn claim(&mut self, interfaces: &[NewInterface]) -> Result<(), BlueprintError> {
        let mut claimed = BTreeSet::new();
        for plug in interfaces.iter().map(|interface| interface.plug) {
            let name = self.check_plug(plug)?;
            let Some(port) = plug.port else { continue };
            if !claimed.insert((plug.switch, port)) {
                return Err(BlueprintError::RepeatedPort { switch: name.to_owned(), port });
            }
        }
        self.ports.append(&mut claimed);
        Ok(())
    }
}

/// Assigns numbers to ports without one.
struct Ports {
    taken: BTreeSet<(usize, PortNo)>,
    last: Vec<u32>,
}

impl Ports {
    fn end(&mut self, Plug { switch, port }: Plug) -> End {
        End { switch, port: port.unwrap_or_else(|| self.next(switch)) }
    }

    // There are far fewer links and interfaces than numbers of ports.
    fn next(&mut self, switch: usize) -> PortNo {
        let last = &mut self.last[switch];
        loop {
            *last += 1;
            if !self.taken.contains(&(switch, PortNo(*last))) {
                return PortNo(*last);
            }
        }
    }
}

fn within(what: &'static str, have: usize, limit: usize) -> Result<(), BlueprintError> {
    if have < limit { Ok(()) } else { Err(BlueprintError::TooMany { what, limit }) }
}
