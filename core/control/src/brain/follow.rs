//! What follows from changes of the topology, for hosts, streams and routes.

use std::net::IpAddr;

use braid_topology::Change;
use braid_types::{DatapathId, SwitchPort, Time};

use super::Brain;
use super::{below, context};
use crate::command::Commands;
use crate::fabric::Replaces;
use crate::hosts::{Binding, HostsEvent};
use crate::notice::{LinkLoss, Notice};
use crate::streams::network;

impl Brain {
    /// Notes that a host was heard; says whether what it says of itself is to be believed.
    pub(super) fn learn(&mut self, now: Time, host: Binding, out: &mut Commands) -> bool {
        let believed = self.hosts.learn(&mut context!(self, now, out), &mut below!(self), host);
        self.drain_hosts(now, out);
        believed
    }

    /// Holds a packet that entered at `dpid` until `target` is found.
    pub(super) fn look_up(
        &mut self,
        now: Time,
        dpid: DatapathId,
        target: IpAddr,
        frame: &[u8],
        out: &mut Commands,
    ) {
        self.hosts.look_up(&mut context!(self, now, out), &below!(self), (dpid, target), frame);
    }

    /// Does what follows from what was learned of hosts.
    pub(super) fn drain_hosts(&mut self, now: Time, out: &mut Commands) {
        while let Some(event) = self.hosts.poll_event() {
            match event {
                HostsEvent::Changed(changes) => self.follow(now, &changes, LinkLoss::Port, out),
                HostsEvent::Found { dpid, frame } => self.resume(now, dpid, &frame, out),
            }
        }
    }

    /// Draws the consequences of changes of the topology; `why` is for the links among them.
    pub(super) fn follow(&mut self, now: Time, changes: &[Change], why: LinkLoss, out: &mut Commands) {
        for change in changes {
            self.hosts.handle_change(&mut context!(self, now, out), change);
            match change {
                Change::LinkAdded { link, .. } => {
                    self.streams.handle_link_up();
                    out.notice(Notice::LinkUp { src: link.src, dst: link.dst });
                }
                Change::LinkRemoved { link } => {
                    out.notice(Notice::LinkDown { src: link.src, dst: link.dst, why });
                }
                Change::HostAdded { at, .. } => self.discovery.handle_host_seen(*at),
                Change::HostMoved { mac, from, to } => {
                    self.discovery.handle_host_seen(*to);
                    let addresses = self.topology.host(*mac).map(|host| host.addresses.clone());
                    self.move_addresses(now, &addresses.unwrap_or_default(), (*from, *to), out);
                }
                Change::HostRemoved { host } => {
                    host.addresses.iter().for_each(|address| self.reroute_to(now, *address, out));
                }
                Change::AddressMoved { address, .. } => {
                    self.streams.release_address(&mut network!(self, now, out), *address);
                    self.reroute_to(now, *address, out);
                    self.streams.place_again(&mut network!(self, now, out), Replaces::Nothing);
                }
                Change::AddressAdded { address, .. } | Change::AddressRemoved { address, .. } => {
                    self.reroute_to(now, *address, out);
                }
                Change::SwitchAdded { .. }
                | Change::SwitchRemoved { .. }
                | Change::PortAdded { .. }
                | Change::PortChanged { .. }
                | Change::PortRemoved { .. }
                | Change::LinkChanged { .. } => {}
            }
        }
    }

    fn reroute_to(&mut self, now: Time, dst: IpAddr, out: &mut Commands) {
        self.routing.reroute_to(&mut context!(self, now, out), &mut self.fabric, dst);
    }

    /// What leads to a host that has moved leads there again.
    fn move_addresses(
        &mut self,
        now: Time,
        addresses: &[IpAddr],
        (from, to): (SwitchPort, SwitchPort),
        out: &mut Commands,
    ) {
        for dst in addresses {
            self.reroute_to(now, *dst, out);
            if from.dpid != to.dpid {
                self.streams.release_address(&mut network!(self, now, out), *dst);
            }
        }
        self.streams.place_again(&mut network!(self, now, out), Replaces::Nothing);
    }
}
