//! `GET /api/v1/hosts`.

use braid_api::{Host, Hosts};
use braid_control::view::HostView;
use braid_types::MacAddr;

use crate::engine::Engine;
use crate::http::replica::{HostName, Listed, Naming};
use crate::state_copy::{Copied, Keyed};

list_route!(/// Interfaces of hosts.
    hosts, "/api/v1/hosts", HostView, Hosts);

impl Copied for HostView {
    const PIECE: usize = 32;

    fn following(engine: &Engine, after: Option<MacAddr>) -> impl Iterator<Item = Self> {
        engine.brain().hosts_after(after)
    }
}

impl Keyed for HostView {
    type Key = MacAddr;

    fn key(&self) -> MacAddr {
        self.mac
    }
}

impl Listed for HostView {
    type Wire = Host;

    fn wire(&self, naming: &Naming) -> Host {
        let Self { mac, at, addresses, last_seen } = self;
        let HostName { name, host } = naming.host(self);
        let at_name = naming.names.port_label(*at);
        Host { mac: *mac, name, host, at: *at, at_name, addresses: addresses.clone(), last_seen: *last_seen }
    }
}
