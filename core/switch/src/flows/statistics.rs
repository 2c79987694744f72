//! Statistics of flows and tables.

use braid_openflow::{
    AggregateStats, BadRequestCode, ErrorCode, FlowStats, FlowStatsRequest, List, ReplyBody, TableId,
    TableStats,
};
use braid_types::Time;

use super::selection::Selection;
use super::{Entry, FlowTables, TABLES};
use crate::multipart::Replies;

impl FlowTables {
    pub(crate) fn flow_stats(
        &self,
        now: Time,
        request: &FlowStatsRequest<'_>,
        out: &mut Replies,
    ) -> Result<(), ErrorCode> {
        let entries = self.selected(request)?;
        let flows: Vec<_> = entries.iter().map(|(table, entry)| flow_stats(now, *table, entry)).collect();
        let size = |index: usize| entries.get(index).map_or(0, |(_, entry)| entry.message.len());
        out.list(&flows, size, |part| ReplyBody::Flow(List::new(part)));
        Ok(())
    }

    pub(crate) fn aggregate_stats(
        &self,
        request: &FlowStatsRequest<'_>,
    ) -> Result<AggregateStats, ErrorCode> {
        let entries = self.selected(request)?;
        Ok(AggregateStats {
            packet_count: entries.iter().map(|(_, entry)| entry.packets).sum(),
            byte_count: entries.iter().map(|(_, entry)| entry.bytes).sum(),
            flow_count: entries.len().try_into().unwrap_or(u32::MAX),
        })
    }

    pub(crate) fn table_stats(&self) -> Vec<TableStats> {
        let tables = (0..TABLES).map(TableId).zip(&self.tables);
        tables
            .map(|(table_id, table)| TableStats {
                table_id,
                active_count: table.len().try_into().unwrap_or(u32::MAX),
                lookup_count: table.lookups,
                matched_count: table.matches,
            })
            .collect()
    }

    fn selected(&self, request: &FlowStatsRequest<'_>) -> Result<Vec<(TableId, &Entry)>, ErrorCode> {
        if request.table_id.0 >= TABLES && request.table_id != TableId::ALL {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadTableId));
        }
        let selection = Selection::of_statistics(request)?;
        let tables = (0..TABLES).map(TableId).zip(&self.tables);
        let tables =
            tables.filter(|(number, _)| selection.table == TableId::ALL || selection.table == *number);
        let entries = tables.flat_map(|(number, table)| table.iter().map(move |(_, entry)| (number, entry)));
        Ok(entries.filter(|(_, entry)| selection.has(entry)).collect())
    }
}

fn flow_stats(now: Time, table_id: TableId, entry: &Entry) -> FlowStats<'_> {
    let age = now.since(entry.created);
    let flow_mod = entry.flow_mod();
    FlowStats {
        table_id,
        duration_sec: age.as_secs() as u32,
        duration_nsec: age.subsec_nanos(),
        priority: entry.priority,
        idle_timeout: entry.idle_timeout,
        hard_timeout: entry.hard_timeout,
        flags: entry.flags,
        cookie: entry.cookie,
        packet_count: entry.packets,
        byte_count: entry.bytes,
        matching: flow_mod.matching,
        instructions: flow_mod.instructions,
    }
}
