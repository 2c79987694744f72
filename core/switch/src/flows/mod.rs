//! Flow tables: addition, change, deletion and expiry of flows.

mod flow_cache;
mod matching;
mod selection;
mod statistics;
mod table;

use braid_openflow::{
    BadRequestCode, BufferId, ErrorCode, FlowMod, FlowModCommand, FlowModFailedCode, FlowModFlags,
    FlowRemoved, FlowRemovedReason, FlowRemovedReasons, GroupId, Message, Seconds, TableId,
};
use braid_types::Time;

use crate::action::{Act, Program};
use crate::connections::Notification;
use crate::environment::Environment;
use crate::groups::Groups;
use crate::packets::key::Key;
use matching::Matcher;
use selection::Selection;
use table::Table;

pub(crate) use table::Entry;

/// The number of tables.
pub(crate) const TABLES: u8 = 8;
/// The greatest number of flows of a table.
pub(crate) const MAX_FLOWS: usize = 1 << 16;

/// The flow tables of a switch.
#[derive(Debug)]
pub(crate) struct FlowTables {
    tables: Vec<Table>,
}

const fn failed(code: FlowModFailedCode) -> ErrorCode {
    ErrorCode::FlowModFailed(code)
}

impl Default for FlowTables {
    fn default() -> Self {
        Self { tables: (0..TABLES).map(|_| Table::default()).collect() }
    }
}

impl FlowTables {
    /// The flow that a packet hits in a table.
    pub(crate) fn lookup(&mut self, table: TableId, key: &Key) -> Option<&mut Entry> {
        self.tables.get_mut(usize::from(table.0))?.find(key)
    }

    /// Adds, changes or deletes flows; `message` holds the bytes of `flow_mod`.
    pub(crate) fn handle_flow_mod(
        &mut self,
        env: &mut Environment<'_>,
        flow_mod: &FlowMod<'_>,
        message: &[u8],
        groups: &Groups,
    ) -> Result<(), ErrorCode> {
        use FlowModCommand::{Add, Delete, DeleteStrict, Modify, ModifyStrict};
        let deletes = matches!(flow_mod.command, Delete | DeleteStrict);
        if flow_mod.table_id.0 >= TABLES && !(deletes && flow_mod.table_id == TableId::ALL) {
            return Err(failed(FlowModFailedCode::BadTableId));
        }
        if !deletes && flow_mod.buffer_id != BufferId::NO_BUFFER {
            return Err(ErrorCode::BadRequest(BadRequestCode::BufferUnknown));
        }
        match flow_mod.command {
            Add => self.add(new_entry(env.now, flow_mod, message, groups)?, flow_mod),
            Modify | ModifyStrict => self.modify(flow_mod, message, groups),
            Delete | DeleteStrict => self.delete(env, flow_mod),
            FlowModCommand::Unknown(_) => Err(failed(FlowModFailedCode::BadCommand)),
        }
    }

    fn add(&mut self, entry: Entry, flow_mod: &FlowMod<'_>) -> Result<(), ErrorCode> {
        let Some(table) = self.tables.get_mut(usize::from(flow_mod.table_id.0)) else { return Ok(()) };
        let overlaps = |other: &Entry| {
            let (one, two) = (&other.matcher, &entry.matcher);
            other.priority == entry.priority && one.value.overlaps(&one.mask, &two.value, &two.mask)
        };
        if flow_mod.flags.contains(FlowModFlags::CHECK_OVERLAP) && table.iter().any(|(_, it)| overlaps(it)) {
            return Err(failed(FlowModFailedCode::Overlap));
        }
        if table.len() >= MAX_FLOWS && table.exact(&entry.matcher, entry.priority).is_none() {
            return Err(failed(FlowModFailedCode::TableFull));
        }
        table.add(entry);
        Ok(())
    }

    fn modify(&mut self, flow_mod: &FlowMod<'_>, message: &[u8], groups: &Groups) -> Result<(), ErrorCode> {
        let program = program(flow_mod, groups)?;
        let selection = Selection::new(flow_mod, flow_mod.command == FlowModCommand::ModifyStrict)?;
        let Some(table) = self.tables.get_mut(usize::from(flow_mod.table_id.0)) else { return Ok(()) };
        let selected = table.iter().filter(|(_, entry)| selection.has(entry));
        for place in selected.map(|(place, _)| place).collect::<Vec<_>>() {
            let Some(entry) = table.get_mut(place) else { continue };
            entry.message = modified(entry, flow_mod).unwrap_or_else(|| message.to_vec());
            entry.program = program.clone();
            if flow_mod.flags.contains(FlowModFlags::RESET_COUNTS) {
                (entry.packets, entry.bytes) = (0, 0);
            }
        }
        Ok(())
    }

    fn delete(&mut self, env: &mut Environment<'_>, flow_mod: &FlowMod<'_>) -> Result<(), ErrorCode> {
        let strict = flow_mod.command == FlowModCommand::DeleteStrict;
        let mut selection = Selection::new(flow_mod, strict)?;
        (selection.out_port, selection.out_group) = (flow_mod.out_port, flow_mod.out_group);
        self.remove_where(env, |table, entry| {
            let here = selection.table == TableId::ALL || selection.table == table;
            (here && selection.has(entry)).then_some(FlowRemovedReason::Delete)
        });
        Ok(())
    }

    /// Removes flows whose time-out is over.
    pub(crate) fn expire(&mut self, env: &mut Environment<'_>) {
        let now = env.now;
        let over = |since: Time, timeout: Seconds| {
            timeout != Seconds::PERMANENT && now.since(since).as_secs() >= timeout.0.into()
        };
        self.remove_where(env, |_, entry| {
            if over(entry.created, entry.hard_timeout) {
                Some(FlowRemovedReason::HardTimeout)
            } else {
                over(entry.used, entry.idle_timeout).then_some(FlowRemovedReason::IdleTimeout)
            }
        });
    }

    /// Removes flows that output to deleted groups.
    pub(crate) fn remove_flows_to(&mut self, env: &mut Environment<'_>, deleted: &[GroupId]) {
        let leads = |entry: &Entry| {
            entry.program.all().any(|act| matches!(act, Act::Group(group) if deleted.contains(group)))
        };
        self.remove_where(env, |_, entry| leads(entry).then_some(FlowRemovedReason::GroupDelete));
    }

    /// The number of flows that output to a group.
    pub(crate) fn references(&self, group: GroupId) -> usize {
        let leads = |entry: &Entry| entry.program.all().any(|act| *act == Act::Group(group));
        self.tables.iter().flat_map(Table::iter).filter(|(_, entry)| leads(entry)).count()
    }

    /// Removes the flows for which there is a reason, and notifies controllers where a flow asks for it.
    fn remove_where(
        &mut self,
        env: &mut Environment<'_>,
        reason: impl Fn(TableId, &Entry) -> Option<FlowRemovedReason>,
    ) {
        for (number, table) in (0..TABLES).map(TableId).zip(&mut self.tables) {
            let removed: Vec<_> =
                table.iter().filter_map(|(place, entry)| Some((place, reason(number, entry)?))).collect();
            for (place, reason) in removed {
                let Some(entry) = table.remove(place) else { continue };
                if entry.flags.contains(FlowModFlags::SEND_FLOW_REM) {
                    let notification = Notification::FlowRemoved(bit(reason));
                    let message = flow_removed(env.now, number, &entry, reason);
                    env.controllers.notify(&notification, &message);
                }
            }
        }
    }
}

fn program(flow_mod: &FlowMod<'_>, groups: &Groups) -> Result<Program, ErrorCode> {
    let program = Program::new(flow_mod.instructions, flow_mod.table_id, TABLES)?;
    groups.check_acts(program.all())?;
    Ok(program)
}

fn new_entry(now: Time, flow_mod: &FlowMod<'_>, message: &[u8], groups: &Groups) -> Result<Entry, ErrorCode> {
    Ok(Entry {
        matcher: Matcher::new(&flow_mod.matching)?,
        priority: flow_mod.priority,
        cookie: flow_mod.cookie,
        idle_timeout: flow_mod.idle_timeout,
        hard_timeout: flow_mod.hard_timeout,
        flags: flow_mod.flags,
        program: program(flow_mod, groups)?,
        message: message.to_vec(),
        created: now,
        used: now,
        packets: 0,
        bytes: 0,
    })
}

/// The message that created a flow, with its present instructions.
fn modified(entry: &Entry, by: &FlowMod<'_>) -> Option<Vec<u8>> {
    let whole = FlowMod { instructions: by.instructions, ..entry.flow_mod() };
    let mut message = Vec::new();
    Message::FlowMod(whole).encode(braid_openflow::Xid(0), &mut message).ok()?;
    Some(message)
}

const fn bit(reason: FlowRemovedReason) -> FlowRemovedReasons {
    match reason {
        FlowRemovedReason::IdleTimeout => FlowRemovedReasons::IDLE_TIMEOUT,
        FlowRemovedReason::HardTimeout => FlowRemovedReasons::HARD_TIMEOUT,
        FlowRemovedReason::GroupDelete => FlowRemovedReasons::GROUP_DELETE,
        _ => FlowRemovedReasons::DELETE,
    }
}

fn flow_removed(now: Time, table_id: TableId, entry: &Entry, reason: FlowRemovedReason) -> Message<'_> {
    let age = now.since(entry.created);
    Message::FlowRemoved(FlowRemoved {
        cookie: entry.cookie,
        priority: entry.priority,
        reason,
        table_id,
        duration_sec: age.as_secs() as u32,
        duration_nsec: age.subsec_nanos(),
        idle_timeout: entry.idle_timeout,
        hard_timeout: entry.hard_timeout,
        packet_count: entry.packets,
        byte_count: entry.bytes,
        matching: entry.flow_mod().matching,
    })
}
