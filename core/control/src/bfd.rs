//! BFD at edges: an edge answers it at ports that are links, so that other switches notice dark links to edges, too.

use std::collections::BTreeSet;

use braid_types::{DatapathId, SwitchPort};

use crate::command::Command;
use crate::context::Context;

use crate::event::SwitchPorts;
use crate::role::Role;

/// Which ports of edges answer BFD.
#[derive(Debug, Default)]
pub(crate) struct EdgeBfd {
    edges: BTreeSet<DatapathId>,
    answering: BTreeSet<SwitchPort>,
}

impl EdgeBfd {
    pub(crate) fn handle_switch_up(&mut self, switch: &SwitchPorts) {
        if switch.is_edge() {
            self.edges.insert(switch.dpid);
        }
    }

    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.edges.remove(&dpid);
        self.answering.retain(|at| at.dpid != dpid);
    }

    /// A port leads to a switch or to hosts. A host is never answered: what it sent could take down the port for all behind it.
    pub(crate) fn handle_role(&mut self, cx: &mut Context<'_>, at: SwitchPort, role: Role) {
        let SwitchPort { dpid, port } = at;
        if role == Role::Link && self.edges.contains(&dpid) {
            self.answering.insert(at);
            cx.out.push(Command::SetBfd { dpid, port, is_on: true });
        } else if role == Role::Host && self.answering.remove(&at) {
            cx.out.push(Command::SetBfd { dpid, port, is_on: false });
        }
    }

    pub(crate) fn answering(&self) -> impl Iterator<Item = SwitchPort> {
        self.answering.iter().copied()
    }
}
