//! A network to emulate: the ports of each switch, what they lead to, and where hosts are.

use braid_topology::Blueprint;
use braid_types::{DatapathId, MacAddr, PortNo};

use crate::network::End;
use crate::packets::{Host, ipv4};

/// A host and the index of its switch.
pub type Placed = (usize, Host);

/// A network to emulate.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The datapath id of each switch.
    pub dpids: Vec<DatapathId>,
    /// The group of each switch, such as a pod.
    pub groups: Vec<Option<String>>,
    /// The ports of each switch, in order.
    pub ports: Vec<Vec<PortNo>>,
    /// Links between switches, both directions in one.
    pub links: Vec<(End, End)>,
    /// Hosts; one for each interface.
    pub hosts: Vec<Placed>,
}

impl Layout {
    /// So many switches with these ports each, and no links between them.
    pub fn single(switches: usize, ports: &[PortNo]) -> Self {
        let dpids = (1..).map(DatapathId).take(switches).collect();
        let (groups, ports) = (vec![None; switches], vec![ports.to_vec(); switches]);
        Self { dpids, groups, ports, ..Self::default() }
    }

    /// The number of directed links.
    pub const fn directed_links(&self) -> usize {
        self.links.len() * 2
    }
}

impl From<&Blueprint> for Layout {
    fn from(blueprint: &Blueprint) -> Self {
        let interfaces = || blueprint.hosts().iter().flat_map(|host| &host.interfaces);
        let ends = blueprint.links().iter().flat_map(|link| link.ends);
        let mut ports = vec![Vec::new(); blueprint.switches().len()];
        for end in ends.chain(interfaces().map(|interface| interface.end)) {
            ports[end.switch].push(end.port);
        }
        ports.iter_mut().for_each(|ports: &mut Vec<PortNo>| ports.sort_unstable());
        let links = blueprint.links().iter().map(|link| {
            let [a, b] = link.ends.map(|end| (end.switch, end.port));
            (a, b)
        });
        let hosts = (1_u32..).zip(interfaces()).map(|(number, interface)| {
            let mac = MacAddr::from_u64(0x00aa_0000_0000 | u64::from(number));
            (interface.end.switch, Host { mac, ip: ipv4(number), port: interface.end.port })
        });
        let dpids = blueprint.switches().iter().map(|switch| switch.dpid).collect();
        let groups = blueprint.switches().iter().map(|switch| switch.group.clone()).collect();
        Self { dpids, groups, ports, links: links.collect(), hosts: hosts.collect() }
    }
}

#[cfg(test)]
mod tests {
    use braid_topology::generate::{Links, fat_tree};

    use super::*;

    #[test]
    fn a_fat_tree_has_every_port_once() {
        let layout = Layout::from(&fat_tree(4, Links::default()).expect("a size that there is"));
        assert_eq!((layout.ports.len(), layout.directed_links(), layout.hosts.len()), (20, 64, 16));
        assert!(layout.ports.iter().all(|ports| *ports == (1..=4).map(PortNo).collect::<Vec<_>>()));
    }
}
