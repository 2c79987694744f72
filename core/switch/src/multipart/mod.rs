//! Statistics and descriptions, in as many parts as they need.

use braid_openflow::{
    ActionId, ActionType, ActionTypes, AggregateStats, BadRequestCode, BandTypes, BucketCounter, Bytes, Desc,
    ErrorCode, Experimenter, ExperimenterId, FlowStats, FlowStatsRequest, GroupCapabilities, GroupDesc,
    GroupFeatures, GroupId, GroupStats, GroupTypes, InstructionId, InstructionType, List, Message, Metadata,
    MeterFeatures, MultipartFlags, MultipartReply, MultipartRequest, OxmClass, OxmHeader, OxmId,
    PortStatsRequest, ReplyBody, RequestBody, TableFeatureProperty, TableFeatures, TableId, TableStats, Text,
    Xid,
};
use braid_types::{PortNo, Time};

use super::flows::Chosen;
use super::{ConnectionId, FLOWS, GROUPS, Switch, TABLES};
use crate::matching::Matcher;
use crate::table::Entry;

/// What a part holds at most, well below the 64 KiB of a message.
const PART: usize = 32 << 10;

const ACTIONS: [ActionType; 6] = [
    ActionType::Output,
    ActionType::PushVlan,
    ActionType::PopVlan,
    ActionType::Group,
    ActionType::DecNwTtl,
    ActionType::SetField,
];
const INSTRUCTIONS: [InstructionType; 5] = [
    InstructionType::GotoTable,
    InstructionType::WriteMetadata,
    InstructionType::WriteActions,
    InstructionType::ApplyActions,
    InstructionType::ClearActions,
];
/// The numbers of the basic fields that are matched, and how many bytes each has.
const MATCHED: [(u8, u8); 30] = [
    (0, 4),
    (2, 8),
    (3, 6),
    (4, 6),
    (5, 2),
    (6, 2),
    (7, 1),
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 4),
    (12, 4),
    (13, 2),
    (14, 2),
    (15, 2),
    (16, 2),
    (17, 2),
    (18, 2),
    (19, 1),
    (20, 1),
    (21, 2),
    (22, 4),
    (23, 4),
    (24, 6),
    (25, 6),
    (26, 16),
    (27, 16),
    (29, 1),
    (30, 1),
    (31, 16),
];
const SET: [u8; 12] = [3, 4, 6, 7, 11, 12, 13, 14, 15, 16, 26, 27];

impl Switch {
    pub(super) fn multipart(
        &mut self,
        now: Time,
        from: ConnectionId,
        xid: Xid,
        request: &MultipartRequest<'_>,
    ) -> Result<(), ErrorCode> {
        if request.flags.contains(MultipartFlags::MORE) {
            return Err(ErrorCode::BadRequest(BadRequestCode::MultipartBufferOverflow));
        }
        let mut out = Replies { xid, bytes: Vec::new() };
        match request.body {
            RequestBody::Desc => out.last(ReplyBody::Desc(self.desc())),
            RequestBody::Flow(it) => self.flow_stats(now, &mut out, &it)?,
            RequestBody::Aggregate(it) => out.last(ReplyBody::Aggregate(self.aggregate(&it)?)),
            RequestBody::Table => out.last(ReplyBody::Table(List::from(&self.table_stats()))),
            RequestBody::Port(it) => self.port_stats(now, &mut out, &it)?,
            RequestBody::PortDesc => {
                let ports: Vec<_> = self.ports.values().map(|port| port.describe()).collect();
                out.list(&ports, |_| 64, |part| ReplyBody::PortDesc(List::new(part)));
            }
            RequestBody::Queue(_) => out.last(ReplyBody::Queue(List::EMPTY)),
            RequestBody::Group(it) => self.group_stats(now, &mut out, it.group_id)?,
            RequestBody::GroupDesc => self.group_desc(&mut out),
            RequestBody::GroupFeatures => out.last(ReplyBody::GroupFeatures(group_features())),
            RequestBody::Meter(_) => out.last(ReplyBody::Meter(List::EMPTY)),
            RequestBody::MeterConfig(_) => out.last(ReplyBody::MeterConfig(List::EMPTY)),
            RequestBody::MeterFeatures => out.last(ReplyBody::MeterFeatures(no_meters())),
            RequestBody::TableFeatures(wanted) if wanted.is_empty() => table_features(&mut out),
            // Tables are what they are.
            RequestBody::TableFeatures(_) => {
                use braid_openflow::TableFeaturesFailedCode::Eperm;
                return Err(ErrorCode::TableFeaturesFailed(Eperm));
            }
            RequestBody::Experimenter(it) => out.records(&self.telemetry(&it)?, it),
            RequestBody::Unknown { .. } => return Err(ErrorCode::BadRequest(BadRequestCode::BadMultipart)),
        }
        if let Some(connection) = self.connections.get_mut(from) {
            connection.out.extend_from_slice(&out.bytes);
        }
        Ok(())
    }

    fn desc(&self) -> Desc<'_> {
        Desc {
            mfr_desc: Text::new("Braid").unwrap_or_default(),
            hw_desc: Text::new("edge").unwrap_or_default(),
            sw_desc: Text::new(&self.identity.version).unwrap_or_default(),
            serial_num: Text::default(),
            dp_desc: Text::new(&self.identity.name).unwrap_or_default(),
        }
    }

    fn chosen(&self, request: &FlowStatsRequest<'_>) -> Result<Vec<(TableId, &Entry)>, ErrorCode> {
        if request.table_id.0 >= TABLES && request.table_id != TableId::ALL {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadTableId));
        }
        let chosen = Chosen {
            table: request.table_id,
            matcher: Matcher::new(&request.matching)?,
            strict: None,
            cookie: (request.cookie.0, request.cookie_mask.0),
            out_port: request.out_port,
            out_group: request.out_group,
        };
        let tables = (0..TABLES).map(TableId).zip(&self.tables);
        let tables = tables.filter(|(number, _)| chosen.table == TableId::ALL || chosen.table == *number);
        let entries = tables.flat_map(|(number, table)| table.iter().map(move |(_, entry)| (number, entry)));
        Ok(entries.filter(|(_, entry)| chosen.has(entry)).collect())
    }

    fn flow_stats(
        &self,
        now: Time,
        out: &mut Replies,
        request: &FlowStatsRequest<'_>,
    ) -> Result<(), ErrorCode> {
        let entries = self.chosen(request)?;
        let flows: Vec<_> = entries.iter().map(|(table, entry)| flow_stats(now, *table, entry)).collect();
        let size = |index: usize| entries.get(index).map_or(0, |(_, entry)| entry.message.len());
        out.list(&flows, size, |part| ReplyBody::Flow(List::new(part)));
        Ok(())
    }

    fn aggregate(&self, request: &FlowStatsRequest<'_>) -> Result<AggregateStats, ErrorCode> {
        let entries = self.chosen(request)?;
        Ok(AggregateStats {
            packet_count: entries.iter().map(|(_, entry)| entry.packets).sum(),
            byte_count: entries.iter().map(|(_, entry)| entry.bytes).sum(),
            flow_count: entries.len().try_into().unwrap_or(u32::MAX),
        })
    }

    fn table_stats(&self) -> Vec<TableStats> {
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

    fn port_stats(&self, now: Time, out: &mut Replies, request: &PortStatsRequest) -> Result<(), ErrorCode> {
        let wanted = request.port_no;
        if wanted != PortNo::ANY && !self.ports.contains_key(&wanted) {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadPort));
        }
        let ports = self.ports.values().filter(|port| wanted == PortNo::ANY || wanted == port.number);
        let ports: Vec<_> = ports.map(|port| port.stats(now)).collect();
        out.list(&ports, |_| 112, |part| ReplyBody::Port(List::new(part)));
        Ok(())
    }

    fn group_stats(&self, now: Time, out: &mut Replies, wanted: GroupId) -> Result<(), ErrorCode> {
        let groups = self.groups.iter().filter(|(id, _)| wanted == GroupId::ALL || wanted == **id);
        let groups: Vec<_> = groups.collect();
        if groups.is_empty() && wanted != GroupId::ALL {
            use braid_openflow::GroupModFailedCode::UnknownGroup;
            return Err(ErrorCode::GroupModFailed(UnknownGroup));
        }
        let counters = |group: &crate::group::Group| -> Vec<_> {
            let buckets = group.buckets.iter();
            buckets.map(|it| BucketCounter { packet_count: it.packets, byte_count: it.bytes }).collect()
        };
        let counters: Vec<Vec<_>> = groups.iter().map(|(_, group)| counters(group)).collect();
        let stats = groups.iter().zip(&counters).map(|((id, group), counters)| {
            let age = now.since(group.created);
            GroupStats {
                group_id: **id,
                ref_count: self.references(**id),
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

    fn references(&self, id: GroupId) -> u32 {
        let leads = |entry: &Entry| entry.program.all().any(|act| *act == crate::action::Act::Group(id));
        let flows =
            self.tables.iter().flat_map(crate::table::Table::iter).filter(|(_, entry)| leads(entry)).count();
        let groups = self.groups.values().filter(|group| group.chained().any(|it| it == id)).count();
        (flows + groups).try_into().unwrap_or(u32::MAX)
    }

    fn group_desc(&self, out: &mut Replies) {
        let groups: Vec<_> = self.groups.iter().collect();
        let desc = groups.iter().filter_map(|(id, group)| {
            let group_mod = group.group_mod()?;
            Some(GroupDesc { group_type: group.kind, group_id: **id, buckets: group_mod.buckets })
        });
        let desc: Vec<_> = desc.collect();
        let size = |index: usize| groups.get(index).map_or(0, |(_, group)| group.message.len());
        out.list(&desc, size, |part| ReplyBody::GroupDesc(List::new(part)));
    }
}

/// The parts of a reply.
struct Replies {
    xid: Xid,
    bytes: Vec<u8>,
}

impl Replies {
    fn last(&mut self, body: ReplyBody<'_>) {
        self.part(MultipartFlags::NONE, body);
    }

    fn part(&mut self, flags: MultipartFlags, body: ReplyBody<'_>) {
        let message = Message::MultipartReply(MultipartReply { flags, body });
        let _ = message.encode(self.xid, &mut self.bytes);
    }

    /// What an experimenter's request is answered, whole records in each part.
    fn records(&mut self, records: &[Vec<u8>], request: Experimenter<'_>) {
        let mut part = Vec::new();
        for record in records {
            if part.len() + record.len() > PART && !part.is_empty() {
                self.part(MultipartFlags::MORE, of_experimenter(request, &part));
                part.clear();
            }
            part.extend_from_slice(record);
        }
        self.last(of_experimenter(request, &part));
    }

    /// `items` in as few parts as their `size`s allow, at least one.
    fn list<'a, T>(
        &mut self,
        items: &'a [T],
        size: impl Fn(usize) -> usize,
        body: impl Fn(&'a [T]) -> ReplyBody<'a>,
    ) {
        let (mut start, mut bytes) = (0, 0);
        for index in 0..items.len() {
            let own = size(index);
            if bytes + own > PART && index > start {
                self.part(MultipartFlags::MORE, body(&items[start..index]));
                (start, bytes) = (index, 0);
            }
            bytes += own;
        }
        self.last(body(&items[start..]));
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

fn group_features() -> GroupFeatures {
    let actions = ActionTypes::OUTPUT
        | ActionTypes::PUSH_VLAN
        | ActionTypes::POP_VLAN
        | ActionTypes::GROUP
        | ActionTypes::DEC_NW_TTL
        | ActionTypes::SET_FIELD;
    GroupFeatures {
        types: GroupTypes::ALL | GroupTypes::SELECT | GroupTypes::INDIRECT | GroupTypes::FF,
        capabilities: GroupCapabilities::SELECT_WEIGHT
            | GroupCapabilities::SELECT_LIVENESS
            | GroupCapabilities::CHAINING
            | GroupCapabilities::CHAINING_CHECKS,
        max_groups: [GROUPS as u32; 4],
        actions: [actions; 4],
    }
}

const fn of_experimenter<'a>(request: Experimenter<'_>, data: &'a [u8]) -> ReplyBody<'a> {
    ReplyBody::Experimenter(Experimenter {
        experimenter: request.experimenter,
        exp_type: request.exp_type,
        data: Bytes(data),
    })
}

const fn no_meters() -> MeterFeatures {
    MeterFeatures { max_meter: 0, band_types: BandTypes::NONE, capabilities: 0, max_bands: 0, max_color: 0 }
}

fn oxm_ids(fields: impl Iterator<Item = u8>) -> Vec<OxmId> {
    let length = |field| MATCHED.iter().find(|(number, _)| *number == field).map_or(0, |(_, length)| *length);
    let header =
        |field| OxmHeader { class: OxmClass::OPENFLOW_BASIC, field, has_mask: false, length: length(field) };
    fields.map(|field| OxmId { header: header(field), experimenter: None }).collect()
}

// ONF extension 109: the length counts the experimenter's number, too.
const fn tcp_flags() -> OxmId {
    let header = OxmHeader { class: OxmClass::EXPERIMENTER, field: 42, has_mask: false, length: 6 };
    OxmId { header, experimenter: Some(ExperimenterId::ONF) }
}

fn table_features(out: &mut Replies) {
    let instructions = INSTRUCTIONS.map(InstructionId::from);
    let actions = ACTIONS.map(ActionId::from);
    let mut matched = oxm_ids(MATCHED.iter().map(|(field, _)| *field));
    matched.push(tcp_flags());
    let set = oxm_ids(SET.into_iter());
    for number in 0..TABLES {
        let next: Vec<_> = (number + 1..TABLES).map(TableId).collect();
        use TableFeatureProperty as Property;
        let properties = [
            Property::Instructions(List::from(&instructions)),
            Property::NextTables(List::from(&next)),
            Property::WriteActions(List::from(&actions)),
            Property::ApplyActions(List::from(&actions)),
            Property::Match(List::from(&matched)),
            Property::Wildcards(List::from(&matched)),
            Property::WriteSetfield(List::from(&set)),
            Property::ApplySetfield(List::from(&set)),
        ];
        let features = [TableFeatures {
            table_id: TableId(number),
            name: Text::default(),
            metadata_match: Metadata(u64::MAX),
            metadata_write: Metadata(u64::MAX),
            config: 0,
            max_entries: FLOWS as u32,
            properties: List::from(&properties),
        }];
        let more = if number + 1 < TABLES { MultipartFlags::MORE } else { MultipartFlags::NONE };
        out.part(more, ReplyBody::TableFeatures(List::from(&features)));
    }
}
