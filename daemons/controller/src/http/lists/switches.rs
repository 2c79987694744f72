//! `GET /api/v1/switches`.

use std::cmp::Ordering;
use std::iter::from_fn;

use braid_api::{Port, PortRole, Switch, SwitchRole, Switches};
use braid_control::Role;
use braid_control::view::{PortView, SwitchView};
use braid_types::DatapathId;

use crate::engine::Engine;
use crate::http::replica::{Listed, Naming};
use crate::state_copy::{ConnectedSwitch, Copied};

list_route!(/// Connected switches.
    switches, "/api/v1/switches", ConnectedSwitch, Switches);

impl Copied for ConnectedSwitch {
    // A switch has many ports.
    const PIECE: usize = 4;

    fn following(engine: &Engine, last: Option<&Self>) -> impl Iterator<Item = Self> {
        let connected = |switch: SwitchView, role| Self {
            address: engine.switches().address(switch.dpid),
            via: engine.switches().via(switch.dpid).cloned(),
            metadata: engine.names().metadata(switch.dpid),
            switch,
            role,
        };
        let last = last.map(|it| it.switch.dpid);
        let masters = engine.brain().switches_after(last);
        let unknown = |dpid| SwitchView { dpid, ports: Vec::new() };
        let slaves = engine.switches().slaves_after(last).map(unknown);
        let masters = masters.map(move |switch| connected(switch, SwitchRole::Master));
        let slaves = slaves.map(move |switch| connected(switch, SwitchRole::Slave));
        merge(masters, slaves)
    }
}

/// Both, by datapath id, as each of them is. Of a switch that is in both, the first counts.
fn merge(
    one: impl Iterator<Item = ConnectedSwitch>,
    other: impl Iterator<Item = ConnectedSwitch>,
) -> impl Iterator<Item = ConnectedSwitch> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    from_fn(move || {
        let order = match (one.peek(), other.peek()) {
            (Some(one), Some(other)) => one.switch.dpid.cmp(&other.switch.dpid),
            (None, _) => Ordering::Greater,
            (_, None) => Ordering::Less,
        };
        if order.is_eq() {
            other.next();
        }
        if order.is_le() { one.next() } else { other.next() }
    })
}

impl Listed for ConnectedSwitch {
    type Key = DatapathId;
    type Wire = Switch;

    fn key(&self) -> DatapathId {
        self.switch.dpid
    }

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
