//! The network of a running controller.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use braid_api::{Host, Link, Switch};
use braid_client::Url;
use braid_topology::LinkState;
use braid_topology::blueprint::{Blueprint, BlueprintError, Builder, NewInterface, NewSwitch, Plug};
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

use super::source::Loaded;
use crate::client::{connect, format, list};

/// The network of the controller; `host_capacity` is the capacity of host links, which it does not know.
///
/// Switches are named by datapath id, hosts by their first IP address, or else by their MAC address.
pub(crate) fn load(controller: &Url, host_capacity: BitsPerSec) -> anyhow::Result<Loaded> {
    let client = connect(controller)?;
    let switches: Vec<Switch> = list(&client)?;
    let links: Vec<Link> = list(&client)?;
    let hosts: Vec<Host> = list(&client)?;
    Ok(draw(&controller.to_string(), &switches, &links, &hosts, host_capacity)?)
}

fn draw(
    name: &str,
    switches: &[Switch],
    links: &[Link],
    hosts: &[Host],
    host_capacity: BitsPerSec,
) -> Result<Loaded, BlueprintError> {
    let mut drawing =
        Drawing { builder: Blueprint::builder(name), places: BTreeMap::new(), warnings: Vec::new() };
    for Switch { dpid, .. } in switches {
        let new = NewSwitch { dpid: Some(*dpid), ..NewSwitch::named(format::switch(*dpid)) };
        drawing.places.insert(*dpid, drawing.builder.switch(new)?);
    }
    drawing.add_links(links);
    drawing.add_hosts(hosts, LinkState::of_capacity(host_capacity));
    Ok(Loaded { blueprint: drawing.builder.build(), warnings: drawing.warnings })
}

struct Drawing {
    builder: Builder,
    places: BTreeMap<DatapathId, usize>,
    warnings: Vec<String>,
}

impl Drawing {
    fn add_links(&mut self, links: &[Link]) {
        let states: BTreeMap<_, _> = links
            .iter()
            .map(|link| ((link.src, link.dst), LinkState::of_capacity(BitsPerSec(link.capacity_bps))))
            .collect();
        for (&(src, dst), there) in &states {
            let back = states.get(&(dst, src));
            if back.is_some() && dst < src {
                continue;
            }
            let (Some(a), Some(b)) = (self.plug(src), self.plug(dst)) else {
                self.leave_out(
                    &format!("link {}", format::port(src)),
                    "one of its switches is not connected",
                );
                continue;
            };
            if let Err(error) = self.builder.directed_link([a, b], [Some(*there), back.copied()]) {
                self.leave_out(&format!("link {}", format::port(src)), error);
            }
        }
    }

    fn add_hosts(&mut self, hosts: &[Host], state: LinkState) {
        let (mut names, mut ports) = (BTreeSet::new(), BTreeSet::new());
        for host in hosts {
            let address = host.addresses.first().map(ToString::to_string);
            let name = address.filter(|name| names.insert(name.clone())).unwrap_or(host.mac.to_string());
            let Some(mut plug) = self.plug(host.at) else {
                self.leave_out(&format!("host {name}"), "its switch is not connected");
                continue;
            };
            if !ports.insert(host.at) {
                let at = format::port(host.at);
                self.warnings.push(format!("host {name} shares port {at}: it is drawn at a port of its own"));
                plug.port = None;
            }
            let interface = NewInterface { plug, states: [state; 2] };
            if let Err(error) = self.builder.host_with(name.clone(), vec![interface]) {
                self.leave_out(&format!("host {name}"), error);
            }
        }
    }

    fn leave_out(&mut self, what: &str, why: impl Display) {
        self.warnings.push(format!("{what} is left out: {why}"));
    }

    // The lists are requested one after the other and may be inconsistent.
    fn plug(&self, at: SwitchPort) -> Option<Plug> {
        self.places.get(&at.dpid).map(|switch| Plug { switch: *switch, port: Some(at.port) })
    }
}
