//! Tunnels between bridges: VXLAN interfaces of the fabric, and the links of namespaces of their own that carry them.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use super::{Commands, LinkPlan, Plan};
use crate::names::LabName;

/// What a tunnel adds to a frame: Ethernet, IPv4, UDP and VXLAN (RFC 7348 §5).
const HEADERS: u16 = 14 + 20 + 8 + 8;
const UDP_PORT: u16 = 4_789;

/// One end of the link that carries a tunnel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Underlay {
    pub namespace: String,
    pub device: String,
    pub address: Ipv4Addr,
}

/// The underlays of link number `index`, in a subnet of 198.18.0.0/15 of their own.
pub(super) fn underlays(index: usize, lab: &LabName) -> [Underlay; 2] {
    // Labs have fewer links than this network has subnets.
    let subnet = 0xc612_0000_u32.saturating_add(u32::try_from(index).unwrap_or(u32::MAX).saturating_mul(4));
    [0, 1].map(|side| Underlay {
        namespace: lab.underlay_namespace(side),
        device: format!("l{index}"),
        address: Ipv4Addr::from(subnet.saturating_add(1 + side as u32)),
    })
}

impl LinkPlan {
    /// Namespace and name of the interface that sends from end `side`: a tunnel's is that of its underlay.
    pub(crate) fn sender(&self, side: usize) -> (&str, &str) {
        let end = &self.ends[side];
        let underlay = self.tunnel.as_ref().map(|underlays| &underlays[side]);
        underlay.map_or((&end.namespace, &end.device), |it| (&it.namespace, &it.device))
    }

    /// What a tunnel adds to each packet.
    pub(super) const fn headers(&self) -> u16 {
        if self.tunnel.is_some() { HEADERS } else { 0 }
    }
}

impl Plan {
    /// The namespaces of the networks that carry tunnels, if there are any.
    pub(crate) fn underlay_namespaces(&self) -> impl Iterator<Item = String> {
        let any = self.links.iter().any(|link| link.tunnel.is_some());
        [0, 1].into_iter().filter(move |_| any).map(|side| self.lab.underlay_namespace(side))
    }

    /// The interfaces of tunnels in the fabric.
    pub(crate) fn tunnel_devices(&self) -> impl Iterator<Item = &str> {
        let tunnels = self.links.iter().filter(|link| link.tunnel.is_some());
        tunnels.flat_map(|link| &link.ends).map(|end| end.device.as_str())
    }
}

impl Commands<'_> {
    /// For `ip -batch` inside `namespace`, one of the underlays': its links, and the tunnels over them as interfaces of the fabric.
    pub(crate) fn tunnels(&self, namespace: &str) -> String {
        let ends = (0..).zip(&self.0.links).flat_map(|it| [(it, 0), (it, 1)]);
        let own = ends.filter(|((_, link), side)| link.tunnel.is_some() && link.sender(*side).0 == namespace);
        own.filter_map(|((index, link), side)| self.tunnel(index, link, side)).collect()
    }

    fn tunnel(&self, index: u32, link: &LinkPlan, side: usize) -> Option<String> {
        let underlays = link.tunnel.as_ref()?;
        let Underlay { device, address, .. } = &underlays[side];
        let (tunnel, fabric, far) = (&link.ends[side].device, &self.0.fabric, underlays[1 - side].address);
        let id = index.saturating_add(1);
        // A link in user space passes frames on as they are: no checksum may be left to the interface.
        Some(format!(
            "addr add {address}/30 dev {device}\nlink set {device} up\n\
             link add {tunnel} netns {fabric} type vxlan id {id} local {address} remote {far} dev {device} \
             dstport {UDP_PORT} noudpcsum\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn tunnels_are_interfaces_of_the_fabric_and_their_underlays_have_the_rate() {
        let text = "{scenario: t, topology: {hosts: [{name: h, interfaces: [{name: e0}]}], switches: [x, y], links: [\
            {between: [h.e0, x], rate: 1Gbit}, {between: [x, y], rate: 10Mbit, tunnel: vxlan}, \
            {between: [x, y], rate: 20Mbit, delay: 5ms, tunnel: vxlan}]}}";
        let scenario = Scenario::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan::new(&scenario, &"lab".parse().unwrap(), || false);
        let commands = Commands(&plan);
        let mut text = commands.namespaces() + &commands.links();
        for namespace in plan.underlay_namespaces() {
            text +=
                &format!("{namespace}:\n{}{}", commands.tunnels(&namespace), commands.shapers(&namespace));
        }
        text += &commands.fabric_links();
        insta::assert_snapshot!(text);
    }
}
