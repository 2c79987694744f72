//! `GET /api/v1/switches`.

use braid_api::{Port, PortRole, Switch, Switches};
use braid_control::Role;
use braid_control::view::{PortView, SwitchView};
use braid_types::DatapathId;

use crate::engine::Engine;
use crate::http::replica::Listed;
use crate::state_copy::{ConnectedSwitch, Copied};

list_route!(/// Connected switches.
    switches, "/api/v1/switches", ConnectedSwitch, Switches);

impl Copied for ConnectedSwitch {
    // A switch has many ports.
    const PIECE: usize = 4;

    fn following(engine: &Engine, last: Option<&Self>) -> impl Iterator<Item = Self> {
        let connected = |switch: SwitchView| Self {
            address: engine.address(switch.dpid),
            metadata: engine.metadata(switch.dpid),
            switch,
        };
        engine.brain().switches_after(last.map(|it| it.switch.dpid)).map(connected)
    }
}

impl Listed for ConnectedSwitch {
    type Key = DatapathId;
    type Wire = Switch;

    fn key(&self) -> DatapathId {
        self.switch.dpid
    }

    fn wire(&self) -> Switch {
        let Self { switch, address, metadata } = self;
        Switch {
            dpid: switch.dpid,
            ports: switch.ports.iter().map(port).collect(),
            address: *address,
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
