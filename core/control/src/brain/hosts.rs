//! Where hosts are: learnt from what they send, written as deliver rules.

use std::net::IpAddr;

use braid_topology::{Change, Host};
use braid_types::{MacAddr, SwitchPort, Time};

use super::batches::Replaces;
use super::claims::Speaker;
use super::{Brain, context};
use crate::command::Commands;
use crate::notice::{LinkLoss, Notice};
use crate::pipeline::Rule;
use crate::role::Role;
use crate::threat::Threat;

impl Brain {
    /// Notes that `mac` sent from `at`, with `ip` as its own address; says whether that is to be believed.
    pub(super) fn learn(
        &mut self,
        now: Time,
        mac: MacAddr,
        ip: IpAddr,
        at: SwitchPort,
        out: &mut Commands,
    ) -> bool {
        if self.ports.role(at) != Some(Role::Host) || ip.is_unspecified() {
            return true;
        }
        // Most packets are of hosts that go on as before.
        if self.claims.is_empty() && self.topology.hear_host(mac, at, ip, now) {
            return true;
        }
        let is_known =
            self.topology.host(mac).is_some_and(|host| host.at == at && host.addresses.contains(&ip));
        self.has_right(now, Speaker { mac, ip, at }, out)
            && (is_known || self.admission.admit_address(&mut context!(self, now, out), at))
            && self.learn_at(now, mac, Some(ip), at, out)
    }

    /// Takes the host to be there, as the topology has room for it; says whether it has.
    pub(super) fn learn_at(
        &mut self,
        now: Time,
        mac: MacAddr,
        ip: Option<IpAddr>,
        at: SwitchPort,
        out: &mut Commands,
    ) -> bool {
        match self.topology.learn_host(mac, at, ip, now) {
            Ok(changes) => self.follow(now, &changes, LinkLoss::Port, out),
            Err(error) => {
                let threat = Threat::NotBelieved { mac, why: error.to_string() };
                self.admission.raise(&mut context!(self, now, out), at, threat);
                return false;
            }
        }
        ip.into_iter().for_each(|ip| self.end_search(now, ip, out));
        true
    }

    /// Draws the consequences of changes of the topology; `why` is for the links among them.
    pub(super) fn follow(&mut self, now: Time, changes: &[Change], why: LinkLoss, out: &mut Commands) {
        for change in changes {
            match change {
                Change::LinkAdded { link, .. } => {
                    self.may_spread = true;
                    out.notice(Notice::LinkUp { src: link.src, dst: link.dst });
                }
                Change::LinkRemoved { link } => {
                    if why != LinkLoss::Recabled {
                        self.note_loss(now, link, out);
                    }
                    out.notice(Notice::LinkDown { src: link.src, dst: link.dst, why });
                }
                Change::HostAdded { mac, at } => {
                    self.ports.show_host(*at);
                    out.notice(Notice::HostSeen { mac: *mac, at: *at });
                }
                Change::HostMoved { mac, from, to } => {
                    self.ports.show_host(*to);
                    self.on_host_moved(now, *mac, (*from, *to), out);
                }
                Change::HostRemoved { host } => self.on_host_removed(now, host, out),
                Change::AddressAdded { address, mac } => self.on_address(now, *address, *mac, out),
                Change::AddressMoved { address, from, to } => {
                    self.withdraw(*address, *from, out);
                    self.release_streams_of(*address, out);
                    self.on_address(now, *address, *to, out);
                    self.place_again(now, Replaces::Nothing, out);
                }
                Change::AddressRemoved { address, mac } => {
                    self.withdraw(*address, *mac, out);
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

    fn on_address(&mut self, now: Time, dst: IpAddr, mac: MacAddr, out: &mut Commands) {
        let Some(at) = self.topology.host(mac).map(|host| host.at) else { return };
        out.notice(Notice::AddressSeen { mac, ip: dst });
        out.add(at.dpid, Rule::Deliver { dst, mac, port: at.port });
        self.reroute_to(now, dst, out);
    }

    fn on_host_moved(
        &mut self,
        now: Time,
        mac: MacAddr,
        (from, to): (SwitchPort, SwitchPort),
        out: &mut Commands,
    ) {
        out.notice(Notice::HostMoved { mac, from, to });
        let addresses = self.topology.host(mac).map(|host| host.addresses.clone());
        for dst in addresses.unwrap_or_default() {
            out.add(to.dpid, Rule::Deliver { dst, mac, port: to.port });
            self.reroute_to(now, dst, out);
            if from.dpid != to.dpid {
                self.delete(from.dpid, Rule::Deliver { dst, mac, port: from.port }, out);
                self.release_streams_of(dst, out);
            }
        }
        self.place_again(now, Replaces::Nothing, out);
    }

    fn on_host_removed(&mut self, now: Time, host: &Host, out: &mut Commands) {
        for dst in host.addresses.iter().copied() {
            self.advertised.forget(dst);
            self.delete(host.at.dpid, Rule::Deliver { dst, mac: host.mac, port: host.at.port }, out);
            self.reroute_to(now, dst, out);
        }
    }

    /// The host no longer has the address.
    fn withdraw(&mut self, dst: IpAddr, mac: MacAddr, out: &mut Commands) {
        self.advertised.forget(dst);
        if let Some(host) = self.topology.host(mac) {
            self.delete(host.at.dpid, Rule::Deliver { dst, mac, port: host.at.port }, out);
        }
    }
}
