//! Blueprints: networks from files and generators, in contrast to the live [`Topology`](crate::Topology).
//!
//! ```
//! use braid_topology::blueprint::{Blueprint, BlueprintError, NewSwitch};
//! use braid_topology::LinkState;
//! use braid_types::{BitsPerSec, DatapathId};
//!
//! let state = LinkState::of_capacity(BitsPerSec(1_000_000_000));
//! let mut builder = Blueprint::builder("two sites");
//! let [ams, gva] = [builder.switch(NewSwitch::named("ams"))?, builder.switch(NewSwitch::named("gva"))?];
//! builder.link(ams, gva, state)?;
//! builder.link(ams, gva, state)?;
//! builder.host("server", [gva], state)?;
//! let blueprint = builder.build();
//!
//! assert_eq!(blueprint.locate("server"), Ok(vec![gva]));
//! assert_eq!(blueprint.name_of(DatapathId(1)), Some("ams"));
//! assert_eq!(blueprint.graph().edges().len(), 4);
//! # Ok::<(), BlueprintError>(())
//! ```

mod builder;
mod error;
mod locate;
mod position;

use std::collections::BTreeMap;

use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::{Graph, LinkState};

pub use builder::{Builder, NewInterface, NewSwitch, Plug};
pub use error::BlueprintError;
pub use locate::UnknownPlace;
pub use position::Position;

/// The maximum number of switches.
pub const MAX_SWITCHES: usize = 262_144;
/// The maximum number of links between switches.
pub const MAX_LINKS: usize = 1_048_576;
/// The maximum number of hosts, and of all their interfaces.
pub const MAX_HOSTS: usize = 1_048_576;
/// The longest name in bytes.
pub const MAX_NAME: usize = 255;

/// A network from a file or generator: switches, the links between them, and hosts.
///
/// Names are unique among switches and hosts, datapath ids among switches, ports at their switch. Every index is
/// that of a switch in [`Blueprint::switches`].
#[derive(Debug, Clone, PartialEq)]
pub struct Blueprint {
    name: String,
    switches: Vec<Switch>,
    hosts: Vec<Host>,
    links: Vec<Link>,
    by_name: BTreeMap<String, Place>,
    by_dpid: BTreeMap<DatapathId, usize>,
}

/// A switch.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// Unique among switches and hosts.
    pub name: String,
    /// Unique among switches.
    pub dpid: DatapathId,
    /// Its position on Earth.
    pub position: Option<Position>,
    /// The group that it belongs to, such as a pod or a layer.
    pub group: Option<String>,
}

/// A link between two switches. Links may be parallel; none returns to its own switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Its two ends.
    pub ends: [End; 2],
    /// The state of each direction, the one from the first end first; `None` for a missing direction. At least one exists.
    pub states: [Option<LinkState>; 2],
}

/// A port of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    /// The switch's index.
    pub switch: usize,
    /// Its port.
    pub port: PortNo,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Unique among switches and hosts.
    pub name: String,
    /// At least one.
    pub interfaces: Vec<Interface>,
}

/// An interface of a host, and the link at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// The switch port at the other end of its link.
    pub end: End,
    /// The state of the direction from the host, and of the direction to it.
    pub states: [LinkState; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Switch(usize),
    Host(usize),
}

impl Blueprint {
    /// Starts an empty network of this name.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder::new(name.into())
    }

    /// The network's name; any text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All switches.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// All hosts.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// All links between switches.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The directed links with their states, in the order of the links.
    pub fn directed_links(&self) -> impl Iterator<Item = (crate::Link, LinkState)> {
        self.links.iter().flat_map(|link| {
            let [a, b] = link.ends.map(|end| self.port_at(end));
            let [there, back] = link.states;
            let there = there.map(|state| (crate::Link { src: a, dst: b }, state));
            there.into_iter().chain(back.map(|state| (crate::Link { src: b, dst: a }, state)))
        })
    }

    /// The switches and links for algorithms, version 0. O((V + E) log (V + E)).
    pub fn graph(&self) -> Graph {
        Graph::new(0, self.switches.iter().map(|switch| switch.dpid), self.directed_links())
    }

    /// The port with its switch's datapath id.
    ///
    /// # Panics
    ///
    /// If the end is not one of this blueprint.
    pub fn port_at(&self, end: End) -> SwitchPort {
        SwitchPort::new(self.switches[end.switch].dpid, end.port)
    }

    /// The index of a switch. O(log V).
    pub fn switch(&self, dpid: DatapathId) -> Option<usize> {
        self.by_dpid.get(&dpid).copied()
    }

    /// The name of a switch. O(log V).
    pub fn name_of(&self, dpid: DatapathId) -> Option<&str> {
        self.switch(dpid).map(|index| self.switches[index].name.as_str())
    }
}
