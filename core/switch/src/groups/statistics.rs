//! Statistics and descriptions of groups.

use braid_openflow::{BucketCounter, ErrorCode, GroupDesc, GroupId, GroupStats, List, ReplyBody};
use braid_types::Time;

use super::group::Group;
use super::{Groups, UNKNOWN};
use crate::flows::FlowTables;
use crate::multipart::Replies;

impl Groups {
    /// The counters of a group, or of all; `flows` gives the number of flows that output to each.
    pub(crate) fn stats(
        &self,
        now: Time,
        wanted: GroupId,
        flows: &FlowTables,
        out: &mut Replies,
    ) -> Result<(), ErrorCode> {
        let groups = self.all.iter().filter(|(id, _)| wanted == GroupId::ALL || wanted == **id);
        let groups: Vec<_> = groups.collect();
        if groups.is_empty() && wanted != GroupId::ALL {
            return Err(UNKNOWN);
        }
        let counters: Vec<Vec<_>> = groups.iter().map(|(_, group)| bucket_counters(group)).collect();
        let stats = groups.iter().zip(&counters).map(|((id, group), counters)| {
            let age = now.since(group.created);
            GroupStats {
                group_id: **id,
                ref_count: (flows.references(**id) + self.references(**id)).try_into().unwrap_or(u32::MAX),
                packet_count: group.packets,
                byte_count: group.bytes,
                duration_sec: age.as_secs() as u32,
                duration_nsec: age.subsec_nanos(),
                bucket_stats: List::from(counters),
            }
        });
        let stats: Vec<_> = stats.collect();
        let size = |index: usize| 40 + 16 * counters.get(index).map_or(0, Vec::len);
        out.list(&stats, size, |part| ReplyBody::Group(List::new(part)));
        Ok(())
    }

    pub(crate) fn describe(&self, out: &mut Replies) {
        let groups: Vec<_> = self.all.iter().collect();
        let desc = groups.iter().filter_map(|(id, group)| {
            let group_mod = group.group_mod()?;
            Some(GroupDesc { group_type: group.kind, group_id: **id, buckets: group_mod.buckets })
        });
        let desc: Vec<_> = desc.collect();
        let size = |index: usize| groups.get(index).map_or(0, |(_, group)| group.message.len());
        out.list(&desc, size, |part| ReplyBody::GroupDesc(List::new(part)));
    }

    /// The number of groups that output to one.
    fn references(&self, id: GroupId) -> usize {
        self.all.values().filter(|group| group.chained().any(|it| it == id)).count()
    }
}

fn bucket_counters(group: &Group) -> Vec<BucketCounter> {
    let buckets = group.buckets.iter();
    buckets.map(|it| BucketCounter { packet_count: it.packets, byte_count: it.bytes }).collect()
}
