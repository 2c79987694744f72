//! Where an address was claimed whose holder is alive elsewhere, packets with it are dropped for a while by the switch.
//!
//! ARP and ND still reach the controller, so that a host that moves there after all is found.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{SwitchPort, Time};

use super::Brain;
use crate::command::Commands;
use crate::pipeline::Rule;
use crate::role::Role;

/// At one time; claims are refused without.
const MAX_DENIALS: usize = 1_024;

/// What is dropped at which port.
#[derive(Debug, Default)]
pub(super) struct Denials(BTreeMap<(SwitchPort, IpAddr), Denial>);

#[derive(Clone, Copy, Debug)]
struct Denial {
    until: Time,
    holder: SwitchPort,
}

impl Brain {
    /// Drops packets from `src` at a port, as it is that of a host at `holder`.
    pub(super) fn deny(
        &mut self,
        now: Time,
        at: SwitchPort,
        src: IpAddr,
        holder: SwitchPort,
        out: &mut Commands,
    ) {
        let denial = Denial { until: now + self.settings.denial, holder };
        if self.denials.0.len() < MAX_DENIALS && self.denials.0.insert((at, src), denial).is_none() {
            out.add(at.dpid, Rule::Deny { port: at.port, src });
        }
    }

    /// Lets through what is no lie any more; called once a tick.
    pub(super) fn tick_denials(&mut self, now: Time, out: &mut Commands) {
        let denials = std::mem::take(&mut self.denials.0);
        for ((at, src), denial) in denials {
            let is_held = self.topology.host_with_address(src).is_some_and(|host| host.at == denial.holder);
            let [here, there] = [at, denial.holder].map(|port| self.ports.role(port) == Some(Role::Host));
            if now < denial.until && is_held && here && there {
                self.denials.0.insert((at, src), denial);
            } else {
                self.delete(at.dpid, Rule::Deny { port: at.port, src }, out);
            }
        }
    }

    /// The switch left, and its rules are nobody's.
    pub(super) fn forget_denials(&mut self, dpid: braid_types::DatapathId) {
        self.denials.0.retain(|(at, _), _| at.dpid != dpid);
    }
}
