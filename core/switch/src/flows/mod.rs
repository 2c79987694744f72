//! Flows: added, changed, deleted, ended by time.

use braid_openflow::{
    BadRequestCode, BufferId, ErrorCode, FlowMod, FlowModCommand, FlowModFailedCode, FlowModFlags,
    FlowRemoved, FlowRemovedReason, FlowRemovedReasons, GroupId, Message, Seconds, TableId,
};
use braid_types::{PortNo, Time};

use super::connections::Unasked;
use super::{FLOWS, Switch, TABLES};
use crate::action::{Act, Program};
use crate::matching::Matcher;
use crate::table::Entry;

/// Which flows a message is about.
pub(super) struct Chosen {
    pub(super) table: TableId,
    pub(super) matcher: Matcher,
    /// The priority, where it counts.
    pub(super) strict: Option<u16>,
    pub(super) cookie: (u64, u64),
    pub(super) out_port: PortNo,
    pub(super) out_group: GroupId,
}

impl Chosen {
    fn new(flow_mod: &FlowMod<'_>, strict: bool) -> Result<Self, ErrorCode> {
        Ok(Self {
            table: flow_mod.table_id,
            matcher: Matcher::new(&flow_mod.matching)?,
            strict: strict.then_some(flow_mod.priority),
            cookie: (flow_mod.cookie.0, flow_mod.cookie_mask.0),
            out_port: PortNo::ANY,
            out_group: GroupId::ANY,
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

const fn failed(code: FlowModFailedCode) -> ErrorCode {
    ErrorCode::FlowModFailed(code)
}

impl Switch {
    pub(super) fn flow_mod(
        &mut self,
        now: Time,
        flow_mod: &FlowMod<'_>,
        message: &[u8],
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
            Add => self.add_flow(now, flow_mod, message),
            Modify | ModifyStrict => self.modify_flows(flow_mod, message),
            Delete | DeleteStrict => self.delete_flows(now, flow_mod),
            FlowModCommand::Unknown(_) => Err(failed(FlowModFailedCode::BadCommand)),
        }
    }

    fn program(&self, flow_mod: &FlowMod<'_>) -> Result<Program, ErrorCode> {
        let program = Program::new(flow_mod.instructions, flow_mod.table_id, TABLES)?;
        self.check_acts(program.all())?;
        Ok(program)
    }

    /// Checks what can be checked of actions only here: that groups are there.
    pub(super) fn check_acts<'a>(&self, mut acts: impl Iterator<Item = &'a Act>) -> Result<(), ErrorCode> {
        let missing = |act: &Act| matches!(act, Act::Group(group) if !self.groups.contains_key(group));
        match acts.any(missing) {
            true => Err(ErrorCode::BadAction(braid_openflow::BadActionCode::BadOutGroup)),
            false => Ok(()),
        }
    }

    fn add_flow(&mut self, now: Time, flow_mod: &FlowMod<'_>, message: &[u8]) -> Result<(), ErrorCode> {
        let matcher = Matcher::new(&flow_mod.matching)?;
        let program = self.program(flow_mod)?;
        let Some(table) = self.tables.get_mut(usize::from(flow_mod.table_id.0)) else { return Ok(()) };
        let overlaps = |entry: &Entry| {
            let (one, two) = (&entry.matcher, &matcher);
            entry.priority == flow_mod.priority && one.value.overlaps(&one.mask, &two.value, &two.mask)
        };
        if flow_mod.flags.contains(FlowModFlags::CHECK_OVERLAP) && table.iter().any(|(_, it)| overlaps(it)) {
            return Err(failed(FlowModFailedCode::Overlap));
        }
        if table.len() >= FLOWS && table.exact(&matcher, flow_mod.priority).is_none() {
            return Err(failed(FlowModFailedCode::TableFull));
        }
        table.add(Entry {
            matcher,
            priority: flow_mod.priority,
            cookie: flow_mod.cookie,
            idle_timeout: flow_mod.idle_timeout,
            hard_timeout: flow_mod.hard_timeout,
            flags: flow_mod.flags,
            program,
            message: message.to_vec(),
            created: now,
            used: now,
            packets: 0,
            bytes: 0,
        });
        Ok(())
    }

    fn modify_flows(&mut self, flow_mod: &FlowMod<'_>, message: &[u8]) -> Result<(), ErrorCode> {
        let program = self.program(flow_mod)?;
        let chosen = Chosen::new(flow_mod, flow_mod.command == FlowModCommand::ModifyStrict)?;
        let Some(table) = self.tables.get_mut(usize::from(flow_mod.table_id.0)) else { return Ok(()) };
        let places: Vec<_> = table.iter().filter(|(_, it)| chosen.has(it)).map(|(place, _)| place).collect();
        for place in places {
            let Some(entry) = table.get_mut(place) else { continue };
            entry.message = modified(entry, flow_mod).unwrap_or_else(|| message.to_vec());
            entry.program = program.clone();
            if flow_mod.flags.contains(FlowModFlags::RESET_COUNTS) {
                (entry.packets, entry.bytes) = (0, 0);
            }
        }
        Ok(())
    }

    fn delete_flows(&mut self, now: Time, flow_mod: &FlowMod<'_>) -> Result<(), ErrorCode> {
        let strict = flow_mod.command == FlowModCommand::DeleteStrict;
        let (out_port, out_group) = (flow_mod.out_port, flow_mod.out_group);
        let chosen = Chosen { out_port, out_group, ..Chosen::new(flow_mod, strict)? };
        self.remove_where(now, |table, entry| {
            let here = chosen.table == TableId::ALL || chosen.table == table;
            (here && chosen.has(entry)).then_some(FlowRemovedReason::Delete)
        });
        Ok(())
    }

    /// Ends flows whose time is over.
    pub(super) fn expire(&mut self, now: Time) {
        let over = |since: Time, timeout: Seconds| {
            timeout != Seconds::PERMANENT && now.since(since).as_secs() >= timeout.0.into()
        };
        self.remove_where(now, |_, entry| {
            if over(entry.created, entry.hard_timeout) {
                Some(FlowRemovedReason::HardTimeout)
            } else {
                over(entry.used, entry.idle_timeout).then_some(FlowRemovedReason::IdleTimeout)
            }
        });
    }

    /// Ends flows that hand packets to a group that goes.
    pub(super) fn remove_flows_of(&mut self, now: Time, gone: &[GroupId]) {
        let leads = |entry: &Entry| {
            entry.program.all().any(|act| matches!(act, Act::Group(group) if gone.contains(group)))
        };
        self.remove_where(now, |_, entry| leads(entry).then_some(FlowRemovedReason::GroupDelete));
    }

    fn remove_where(&mut self, now: Time, reason: impl Fn(TableId, &Entry) -> Option<FlowRemovedReason>) {
        for (number, table) in (0..TABLES).map(TableId).zip(&mut self.tables) {
            let gone: Vec<_> =
                table.iter().filter_map(|(place, entry)| Some((place, reason(number, entry)?))).collect();
            for (place, reason) in gone {
                let Some(entry) = table.remove(place) else { continue };
                if entry.flags.contains(FlowModFlags::SEND_FLOW_REM) {
                    let bit = Unasked::FlowRemoved(bit(reason));
                    self.connections.tell(&bit, &removed(now, number, &entry, reason));
                }
            }
        }
    }
}

/// What made a flow, with the instructions that it has now.
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

fn removed(now: Time, table_id: TableId, entry: &Entry, reason: FlowRemovedReason) -> Message<'_> {
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
