//! `GET /api/v1/switches`.

use std::iter::from_fn;

use braid_api::{Port, PortRole, Switch, SwitchRole, Switches};
use braid_control::Role;
use braid_control::view::{PortView, SwitchView};
use braid_types::DatapathId;

use crate::engine::Engine;
use crate::http::replica::{Listed, Naming};
use crate::state_copy::{ConnectedSwitch, Copied, Keyed};

list_route!(/// Connected switches.
    switches, "/api/v1/switches", ConnectedSwitch, Switches);

impl Copied for ConnectedSwitch {
    // A switch has many ports.
    const PIECE: usize = 4;
    const PART: usize = 256;

    fn following(engine: &Engine, after: Option<DatapathId>) -> impl Iterator<Item = Self> {
        let connected = |switch: SwitchView, role| Self {
            address: engine.switches().address(switch.dpid),
            via: engine.switches().via(switch.dpid).cloned(),
            metadata: engine.names().metadata(switch.dpid),
            switch,
            role,
        };
        let unknown = |dpid| SwitchView { dpid, ports: Vec::new() };
        let mut masters = engine.brain().switches_after(after).peekable();
        let mut peers = engine.switches().peers_after(after).peekable();
        // Both by datapath id. No more peers are looked at than what is taken needs: slaves may be few or none.
        from_fn(move || {
            loop {
                let master = masters.peek().map(|switch| switch.dpid);
                match peers.next_if(|(dpid, _)| master.is_none_or(|master| *dpid <= master)) {
                    Some((dpid, false)) if master != Some(dpid) => {
                        return Some(connected(unknown(dpid), SwitchRole::Slave));
                    }
                    Some(_) => {}
                    None => return masters.next().map(|switch| connected(switch, SwitchRole::Master)),
                }
            }
        })
    }
}

impl Keyed for ConnectedSwitch {
    type Key = DatapathId;

    fn key(&self) -> DatapathId {
        self.switch.dpid
    }
}

impl Listed for ConnectedSwitch {
    type Wire = Switch;

    fn wire(&self, _: &Naming) -> Switch {
        let Self { switch, address, via, metadata, role } = self;
        Switch {
            dpid: switch.dpid,
            role: *role,
            ports: switch.ports.iter().map(port).collect(),
            address: *address,
            via: via.as_ref().map(ToString::to_string),
            name: metadata.name.clone(),
            group: metadata.group.clone(),
            position: metadata.position,
        }
    }
}

fn port(port: &PortView) -> Port {
    Port { port: port.port, name: port.name.clone(), up: port.up, role: port.role.map(role) }
}

const fn role(role: Role) -> PortRole {
    match role {
        Role::Pending => PortRole::Pending,
        Role::Host => PortRole::Host,
        Role::Link => PortRole::Link,
        Role::Silent => PortRole::Silent,
    }
}
