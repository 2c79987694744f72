//! What an earlier controller left in the switch, read once we are its master.

use braid_openflow::{
    Action, EncodeError, FlowRemoved, FlowStats, GroupDesc, GroupType, MultipartFlags, MultipartReply,
    ReplyBody, Xid,
};
use braid_types::PortNo;

use crate::cookie::Cookie;
use crate::event::{FoundRules, Stray};
use crate::pipeline::{self, EdgeGroup, FLOOD_GROUP};

/// More rules than this are not taken up: the switch is set up anew.
const MAX_RULES: usize = 1 << 20;

/// Of the questions for meters, which switches may refuse.
pub(super) const METERS_XID: Xid = Xid(7);

/// The answers so far, each of which comes in as many parts as it needs.
#[derive(Debug, Default)]
pub(super) struct Reading {
    found: FoundRules,
    foreign_groups: bool,
    all_flows: bool,
    all_groups: bool,
}

impl Reading {
    /// Asks for everything.
    pub(super) fn begin(xid: Xid, out: &mut Vec<u8>) -> Result<Self, EncodeError> {
        // Who has no meters says so before the rest comes, and is not asked to say so.
        pipeline::meter::read(METERS_XID, out)?;
        pipeline::read_all(xid, out)?;
        Ok(Self::default())
    }

    pub(super) fn note(&mut self, reply: &MultipartReply<'_>) {
        let is_last = !reply.flags.contains(MultipartFlags::MORE);
        match reply.body {
            ReplyBody::Flow(flows) => {
                flows.iter().for_each(|flow| self.note_flow(&flow));
                self.all_flows |= is_last;
            }
            ReplyBody::GroupDesc(groups) => {
                groups.iter().for_each(|group| self.note_group(&group));
                self.all_groups |= is_last;
            }
            ReplyBody::MeterFeatures(features) => {
                self.found.meters.highest = pipeline::meter::highest(&features);
            }
            ReplyBody::MeterConfig(meters) => {
                let ours = meters.iter().filter_map(|meter| pipeline::meter::decode(&meter));
                self.found.meters.rates.extend(ours);
            }
            _ => {}
        }
    }

    fn note_flow(&mut self, flow: &FlowStats<'_>) {
        if !Cookie(flow.cookie.0).is_ours() || self.len() > MAX_RULES {
            return;
        }
        match pipeline::decode(flow) {
            Some(rule) => self.found.rules.push(rule),
            None => self.found.strays.push(Stray::new(flow)),
        }
    }

    fn note_group(&mut self, group: &GroupDesc<'_>) {
        if group.group_id == FLOOD_GROUP {
            self.found.flood = flood_ports(group);
            self.foreign_groups |= self.found.flood.is_none();
        } else if pipeline::is_guard(group.group_id) {
            let guard = pipeline::decode_guard(group);
            self.foreign_groups |= guard.is_none();
            self.found.guards.extend(guard);
        } else {
            self.found.edge_groups.extend(EdgeGroup::of(group.group_id));
        }
    }

    /// A rule that was read ended before everything was.
    pub(super) fn forget(&mut self, removed: &FlowRemoved<'_>) {
        let cookie = Cookie(removed.cookie.0);
        self.found.rules.retain(|rule| Cookie::new(rule.purpose()) != cookie || cookie.is_shared());
    }

    fn len(&self) -> usize {
        self.found.rules.len().saturating_add(self.found.strays.len())
    }

    pub(super) const fn is_done(&self) -> bool {
        self.all_flows && self.all_groups
    }

    /// What was found; `None` if it is of no use.
    pub(super) fn finish(self) -> Option<FoundRules> {
        (self.len() <= MAX_RULES && !self.foreign_groups).then_some(self.found)
    }
}

/// The ports of a group that floods, one a bucket; `None` if the group does anything else.
fn flood_ports(group: &GroupDesc<'_>) -> Option<Vec<PortNo>> {
    let port = |actions: &mut dyn Iterator<Item = Action<'_>>| match (actions.next(), actions.next()) {
        (Some(Action::Output { port, .. }), None) => Some(port),
        _ => None,
    };
    let ports = group.buckets.iter().map(|bucket| port(&mut bucket.actions.iter()));
    ports.collect::<Option<_>>().filter(|_| group.group_type == GroupType::All)
}
