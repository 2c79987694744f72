//! Reading the installed state of an earlier controller, once this one is master.

use std::collections::BTreeSet;

use braid_openflow::{
    Action, EncodeError, FlowRemoved, FlowStats, GroupDesc, GroupType, MeterConfig, MeterId, MeterRequest,
    MultipartReply, ReplyBody, RequestBody, Xid,
};
use braid_types::PortNo;

use super::answers::Answers;
use super::{DiscardReason, SessionLimits};
use crate::cookie::Cookie;
use crate::event::{InstalledRules, UnknownRule};
use crate::pipeline::{self, EcmpBuckets, EdgeGroup, FLOOD_GROUP, ProtectedPort, Rule};

/// Requests for meter features and meters, which switches may refuse.
pub(super) const METER_XIDS: [Xid; 2] = [Xid(7), Xid(8)];
const FLOW_XID: Xid = Xid(9);
const GROUP_DESC_XID: Xid = Xid(10);

/// Approximate size of a small tree entry.
const ENTRY_BYTES: usize = 32;

/// The installed state read so far. Each reply comes in any number of parts.
#[derive(Debug)]
pub(super) struct Reading {
    limits: SessionLimits,
    installed: InstalledRules,
    /// The cookies of stream rules that have ended since.
    ended: BTreeSet<Cookie>,
    /// The number of items, and their size in bytes.
    count: usize,
    bytes: usize,
    /// Why the switch is set up anew, if it is.
    unusable: Option<DiscardReason>,
    all_flows: bool,
    all_groups: bool,
}

impl Reading {
    /// Sends all requests.
    pub(super) fn begin(
        limits: SessionLimits,
        answers: &mut Answers,
        out: &mut Vec<u8>,
    ) -> Result<Self, EncodeError> {
        let requests = [
            // A switch without meters refuses these before the other replies arrive, so nothing waits for
            // them.
            (METER_XIDS[0], RequestBody::MeterFeatures),
            (METER_XIDS[1], RequestBody::MeterConfig(MeterRequest { meter_id: MeterId::ALL })),
            (FLOW_XID, pipeline::our_flows()),
            (GROUP_DESC_XID, RequestBody::GroupDesc),
        ];
        for (xid, body) in requests {
            answers.ask(xid, body, out)?;
        }
        Ok(Self::new(limits))
    }

    fn new(limits: SessionLimits) -> Self {
        Self {
            limits,
            installed: InstalledRules::default(),
            ended: BTreeSet::new(),
            count: 0,
            bytes: 0,
            unusable: None,
            all_flows: false,
            all_groups: false,
        }
    }

    /// Records a part of a reply.
    pub(super) fn note(&mut self, reply: &MultipartReply<'_>, is_last: bool) {
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
                self.installed.meters.highest = pipeline::meter::highest(&features);
            }
            ReplyBody::MeterConfig(meters) => meters.iter().for_each(|meter| self.note_meter(&meter)),
            _ => {}
        }
    }

    fn note_flow(&mut self, flow: &FlowStats<'_>) {
        if self.unusable.is_some() || !Cookie(flow.cookie.0).is_ours() {
            return;
        }
        if let Some(rule) = pipeline::decode(flow) {
            if self.has_room(size_of::<Rule>()) {
                self.installed.rules.push(rule);
            }
            return;
        }
        let unknown = UnknownRule::new(flow);
        if self.has_room(unknown.size()) {
            self.installed.unknown_rules.push(unknown);
        }
    }

    fn note_group(&mut self, group: &GroupDesc<'_>) {
        if group.group_id == FLOOD_GROUP {
            let ports = flood_ports(group);
            self.require(ports.is_some());
            self.installed.flood = ports;
        } else if pipeline::is_protected_port(group.group_id) {
            let protected = pipeline::decode_protected_port(group);
            self.require(protected.is_some());
            if self.has_room(size_of::<ProtectedPort>()) {
                self.installed.protected_ports.extend(protected);
            }
        } else if let Some(buckets) = pipeline::decode_ecmp(group)
            && self.has_room(size_of::<EcmpBuckets>().saturating_add(size_of_val(buckets.hops.as_slice())))
        {
            self.installed.ecmp_groups.push(buckets);
        } else if let Some(group) = EdgeGroup::of(group.group_id)
            && self.has_room(size_of::<EdgeGroup>())
        {
            self.installed.edge_groups.push(group);
        }
    }

    fn note_meter(&mut self, meter: &MeterConfig<'_>) {
        if let Some((port, rate)) = pipeline::meter::decode(meter)
            && self.has_room(ENTRY_BYTES)
        {
            self.installed.meters.rates.insert(port, rate);
        }
    }

    /// Records a rule that ended before everything was read.
    pub(super) fn forget(&mut self, removed: &FlowRemoved<'_>) {
        let cookie = Cookie(removed.cookie.0);
        // A rule with a shared cookie may be another one.
        if cookie.is_ours() && !cookie.is_shared() && self.has_room(ENTRY_BYTES) {
            self.ended.insert(cookie);
        }
    }

    fn require(&mut self, is_as_written: bool) {
        if !is_as_written {
            self.unusable.get_or_insert(DiscardReason::Foreign);
        }
    }

    /// Whether one more item of this size is within the limits. If not, everything read is discarded.
    fn has_room(&mut self, bytes: usize) -> bool {
        let (count, bytes) = (self.count.saturating_add(1), self.bytes.saturating_add(bytes));
        (self.count, self.bytes) = (count, bytes);
        let limits = self.limits;
        if count > limits.installed_rules || bytes > limits.installed_bytes {
            self.unusable.get_or_insert(DiscardReason::TooMuch { count, bytes, limits });
        }
        if self.unusable.is_some() {
            (self.installed, self.ended) = Default::default();
        }
        self.unusable.is_none()
    }

    pub(super) const fn is_done(&self) -> bool {
        self.all_flows && self.all_groups
    }

    /// The installed state, or why it is not used.
    pub(super) fn finish(mut self) -> Result<InstalledRules, DiscardReason> {
        if !self.ended.is_empty() {
            self.installed.rules.retain(|rule| !self.ended.contains(&Cookie::new(rule.purpose())));
        }
        self.unusable.map_or(Ok(self.installed), Err)
    }
}

/// The ports of a flood group, one in each bucket; `None` if the group has any other actions.
fn flood_ports(group: &GroupDesc<'_>) -> Option<Vec<PortNo>> {
    let port = |actions: &mut dyn Iterator<Item = Action<'_>>| match (actions.next(), actions.next()) {
        (Some(Action::Output { port, .. }), None) => Some(port),
        _ => None,
    };
    let ports = group.buckets.iter().map(|bucket| port(&mut bucket.actions.iter()));
    ports.collect::<Option<_>>().filter(|_| group.group_type == GroupType::All)
}
