//! The flows that a request selects: by match, priority, cookie and output.

use braid_openflow::{ErrorCode, FlowMod, FlowStatsRequest, GroupId, TableId};
use braid_types::PortNo;

use super::matching::Matcher;
use super::table::Entry;
use crate::action::Act;

/// Flows that a request selects.
pub(super) struct Selection {
    pub(super) table: TableId,
    matcher: Matcher,
    /// The priority, where it counts.
    strict: Option<u16>,
    /// Value and mask.
    cookie: (u64, u64),
    pub(super) out_port: PortNo,
    pub(super) out_group: GroupId,
}

impl Selection {
    /// The flows that `flow_mod` changes or deletes, whatever they output.
    pub(super) fn new(flow_mod: &FlowMod<'_>, strict: bool) -> Result<Self, ErrorCode> {
        Ok(Self {
            table: flow_mod.table_id,
            matcher: Matcher::new(&flow_mod.matching)?,
            strict: strict.then_some(flow_mod.priority),
            cookie: (flow_mod.cookie.0, flow_mod.cookie_mask.0),
            out_port: PortNo::ANY,
            out_group: GroupId::ANY,
        })
    }

    /// The flows of a statistics request.
    pub(super) fn of_statistics(request: &FlowStatsRequest<'_>) -> Result<Self, ErrorCode> {
        Ok(Self {
            table: request.table_id,
            matcher: Matcher::new(&request.matching)?,
            strict: None,
            cookie: (request.cookie.0, request.cookie_mask.0),
            out_port: request.out_port,
            out_group: request.out_group,
        })
    }

    pub(super) fn has(&self, entry: &Entry) -> bool {
        let (value, mask) = self.cookie;
        let (own, wanted) = (&entry.matcher, &self.matcher);
        let fits = match self.strict {
            Some(priority) => own == wanted && entry.priority == priority,
            None => own.value.is_within(&own.mask, &wanted.value, &wanted.mask),
        };
        fits && entry.cookie.0 & mask == value & mask && self.leads_out(entry)
    }

    fn leads_out(&self, entry: &Entry) -> bool {
        let to_port = |act: &Act| matches!(act, Act::Output { port, .. } if *port == self.out_port);
        let to_group = |act: &Act| *act == Act::Group(self.out_group);
        (self.out_port == PortNo::ANY || entry.program.all().any(to_port))
            && (self.out_group == GroupId::ANY || entry.program.all().any(to_group))
    }
}
