//! Source filters: switch rules that drop packets with a stolen address for a while.
//!
//! A filter is set at the port that lost an address conflict, and lasts at most while the holder stays at its own port.
//! ARP and ND still reach the controller, so a host that really moves there is found.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{DatapathId, SwitchPort, Time};

use super::HostDeps;
use crate::context::Context;
use crate::pipeline::Rule;

/// Filters at one time. Conflicts are resolved without them as well.
const MAX_FILTERS: usize = 1_024;

/// The filtered source addresses of each port.
#[derive(Debug, Default)]
pub(super) struct SourceFilters(BTreeMap<(SwitchPort, IpAddr), SourceFilter>);

#[derive(Clone, Copy, Debug)]
struct SourceFilter {
    until: Time,
    holder: SwitchPort,
}

impl SourceFilters {
    /// Drops packets from `src` at a port, since the address is held at `holder`.
    pub(super) fn add(&mut self, cx: &mut Context<'_>, at: SwitchPort, src: IpAddr, holder: SwitchPort) {
        let filter = SourceFilter { until: cx.now + cx.settings.source_filter_time, holder };
        if self.0.len() < MAX_FILTERS && self.0.insert((at, src), filter).is_none() {
            cx.out.add(at.dpid, Rule::SourceFilter { port: at.port, src });
        }
    }

    /// Removes filters that are over or no longer justified. Called once a tick.
    pub(super) fn expire(&mut self, deps: &mut HostDeps<'_>) {
        let filters = std::mem::take(&mut self.0);
        for ((at, src), filter) in filters {
            let is_held =
                deps.cx.topology.host_with_address(src).is_some_and(|host| host.at == filter.holder);
            let both_up = deps.is_host_port(at) && deps.is_host_port(filter.holder);
            if deps.cx.now < filter.until && is_held && both_up {
                self.0.insert((at, src), filter);
            } else {
                deps.cx.delete(at.dpid, Rule::SourceFilter { port: at.port, src });
            }
        }
    }

    /// A switch has left; its rules need no removal.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.0.retain(|(at, _), _| at.dpid != dpid);
    }
}
