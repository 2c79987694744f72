//! Links that are added to a plan, or taken out of it, while its lab is up.

use std::collections::BTreeSet;

use braid_link_model::Parameters;
use braid_types::PortNo;

use super::{LinkBackend, LinkPlan, LinkPlanEnd, Plan, PortPlan, device_name};

impl Plan {
    /// The place among the switches of the bridge of this name.
    pub(crate) fn bridge(&self, name: &str) -> Option<usize> {
        self.switches.iter().position(|switch| !switch.edge && switch.name == name)
    }

    /// Adds a link between two bridges, by their places, with new ports; its index.
    pub(crate) fn add_link(
        &mut self,
        [a, b]: [usize; 2],
        directions: [Parameters; 2],
        backend: LinkBackend,
    ) -> usize {
        let ends = [self.add_end(a, b), self.add_end(b, a)];
        self.links.push(LinkPlan { ends, directions, backend, tunnel: None });
        self.links.len() - 1
    }

    /// Takes out a link with its ports.
    pub(crate) fn remove_link(&mut self, index: usize) {
        let link = self.links.remove(index);
        for (dpid, number) in link.ends.iter().filter_map(|end| end.port) {
            let switch = self.switches.iter_mut().filter(|switch| switch.dpid == dpid);
            switch.for_each(|switch| switch.ports.retain(|port| port.number != number));
        }
    }

    /// A new port of a bridge, which leads to another.
    fn add_end(&mut self, at: usize, peer: usize) -> LinkPlanEnd {
        let taken = self.devices();
        let peer = self.switches[peer].name.clone();
        let switch = &mut self.switches[at];
        // Behind all others: the number of a link that was removed between them is not used again.
        let last = switch.ports.iter().map(|port| port.number.0).max().unwrap_or(0);
        let number = PortNo(last + 1);
        let device = device_name((at, &switch.name), number, &peer, &taken);
        switch.ports.push(PortPlan { number, device: device.clone(), peer, uplink: None });
        let (name, port) = (switch.name.clone(), Some((switch.dpid, number)));
        LinkPlanEnd { name, namespace: self.fabric.clone(), device, port }
    }

    /// The interfaces of the fabric's namespace.
    fn devices(&self) -> BTreeSet<String> {
        let ports = self.switches.iter().flat_map(|switch| &switch.ports).map(|port| port.device.clone());
        ports.chain(super::reserved_devices(self.switches.iter().map(|switch| &switch.name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn plan() -> Plan {
        let text = "{scenario: t, topology: {hosts: [{name: h, interfaces: [{name: e0}]}], switches: [x, y], edges: [z], \
            links: [{between: [h.e0, x], rate: 1Mbit}, {between: [x, y], rate: 1Mbit}, {between: [z, y], rate: 1Mbit}]}}";
        let scenario = Scenario::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}"));
        Plan::new(&scenario, &"lab".parse().unwrap(), || false)
    }

    fn ends(plan: &Plan, index: usize) -> [(&str, u32); 2] {
        plan.links[index].ends.each_ref().map(|end| (end.device.as_str(), end.port.unwrap().1.0))
    }

    #[test]
    fn an_added_link_has_ports_and_names_of_its_own() {
        let mut plan = plan();
        let bridges = [plan.bridge("x").unwrap(), plan.bridge("y").unwrap()];
        let added = plan.add_link(bridges, [Parameters::default(); 2], LinkBackend::Tbf);
        assert_eq!(ends(&plan, added), [("s.1.3", 3), ("s.2.3", 3)]);
        let again = plan.add_link(bridges, [Parameters::default(); 2], LinkBackend::Tbf);
        assert_eq!(ends(&plan, again), [("s.1.4", 4), ("s.2.4", 4)]);
        assert_eq!(plan.switches[0].ports.last().unwrap().peer, "y");
        assert_eq!(plan.switch_links().count(), 8);
    }

    #[test]
    fn what_is_added_and_removed_leaves_no_trace() {
        let (mut changed, before) = (plan(), plan());
        let added = changed.add_link([0, 1], [Parameters::default(); 2], LinkBackend::Tbf);
        assert_ne!(changed, before);
        changed.remove_link(added);
        assert_eq!(changed, before);
    }

    #[test]
    fn a_removed_link_frees_its_readable_names_and_edges_are_no_bridges() {
        let mut plan = plan();
        plan.remove_link(1);
        assert_eq!(plan.switches[0].ports.iter().map(|port| port.number.0).collect::<Vec<_>>(), [1]);
        let added = plan.add_link([1, 0], [Parameters::default(); 2], LinkBackend::Tbf);
        assert_eq!(ends(&plan, added), [("y-x", 3), ("x-y", 2)]);
        assert_eq!((plan.bridge("z"), plan.bridge("h")), (None, None));
    }
}
