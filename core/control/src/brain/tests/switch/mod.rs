//! A fake switch with the OpenFlow features that the pipeline uses. It panics at others.

mod matching;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use braid_edge_protocol::extension::Extension;
use braid_openflow::{
    Action, Bucket, FlowMod, FlowModCommand, FlowStats, GroupDesc, GroupId, GroupModCommand, GroupType,
    Instruction, Message, MeterBand, MeterId, MeterMod, MeterModCommand, OxmField, Xid, frames,
};
use braid_packet::Frame;
use braid_spray::Settings;
use braid_types::PortNo;

use matching::fits;

use crate::cookie::Cookie;
use crate::event::{InstalledMeters, InstalledRules, UnknownRule};
use crate::pipeline::{
    EdgeGroup, FLOOD_GROUP, ProtectedPort, Rule, decode, decode_ecmp, decode_protected_port,
    is_protected_port,
};

/// An output of a switch: through a port, or to the controller with the table that sent it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Output {
    Port(PortNo, Vec<u8>),
    Controller(u8, Vec<u8>),
}

/// Rules and groups, as the messages that created them.
#[derive(Default)]
pub(super) struct FakeSwitch {
    flows: BTreeMap<(u8, u16, String), Vec<u8>>,
    groups: BTreeMap<GroupId, Vec<u8>>,
    meters: BTreeMap<MeterId, u32>,
    down: BTreeSet<PortNo>,
    /// The bucket weights of spray groups.
    shares: BTreeMap<GroupId, Vec<u32>>,
    /// The settings of resequencing groups; `None` if they do not resequence.
    resequencers: BTreeMap<GroupId, Option<Settings>>,
    /// Packets through groups, so that spray groups alternate.
    turns: Cell<usize>,
    /// Packets through resequencing groups.
    ordered: Cell<usize>,
}

impl FakeSwitch {
    /// A switch whose ports in `down` have no carrier.
    pub(super) fn with_down(down: BTreeSet<PortNo>) -> Self {
        Self { down, ..Self::default() }
    }

    /// A port loses its carrier, or regains it.
    pub(super) fn set_down(&mut self, port: PortNo, down: bool) {
        if down {
            self.down.insert(port)
        } else {
            self.down.remove(&port)
        };
    }

    /// Executes every message in `bytes`; returns the outputs of packet-outs.
    pub(super) fn obey(&mut self, bytes: &[u8]) -> Vec<Output> {
        let mut outputs = Vec::new();
        for frame in frames(bytes) {
            let frame = frame.expect("whole message");
            match frame.decode().expect("valid message").1 {
                Message::FlowMod(flow) => self.flow_mod(&flow, frame.bytes),
                Message::GroupMod(group) => self.group_mod(group.command, group.group_id, frame.bytes),
                Message::PacketOut(packet) => {
                    for action in packet.actions {
                        self.act(action, packet.in_port, &mut packet.data.0.to_vec(), 0, &mut outputs);
                    }
                }
                Message::MeterMod(meter) => self.meter_mod(&meter),
                Message::Experimenter(message) => {
                    let extension = Extension::decode(&message).expect("well formed").expect("known");
                    self.extend(extension);
                }
                Message::MultipartRequest(_) => {}
                other => panic!("unexpected {other:?}"),
            }
        }
        outputs
    }

    /// Removes the rules of one priority in one table.
    pub(super) fn lose(&mut self, table: u8, priority: u16) {
        self.flows.retain(|(at, rank, _), _| (*at, *rank) != (table, priority));
    }

    fn delete_all(&mut self, deletion: &FlowMod<'_>) {
        let mask = deletion.cookie_mask.0;
        self.flows.retain(|_, flow| flow_of(flow).cookie.0 & mask != deletion.cookie.0 & mask);
    }

    /// Installs a flow that no Braid controller would write.
    pub(super) fn plant(&mut self, flow: FlowMod<'_>) {
        let mut bytes = Vec::new();
        Message::FlowMod(flow).encode(Xid(1), &mut bytes).expect("a short message");
        self.obey(&bytes);
    }

    /// Removes one rule.
    pub(super) fn lose_rule(&mut self, rule: Rule) {
        self.flows.retain(|_, flow| decode(&stats(&flow_of(flow))) != Some(rule));
    }

    /// The installed state, as a connecting controller reads it.
    pub(super) fn found(&self) -> InstalledRules {
        let mut found = InstalledRules::default();
        for flow in self.flows.values().map(|flow| stats(&flow_of(flow))) {
            match decode(&flow) {
                Some(rule) => found.rules.push(rule),
                None if Cookie(flow.cookie.0).is_ours() => found.unknown_rules.push(UnknownRule::new(&flow)),
                None => {}
            }
        }
        found.meters = InstalledMeters { highest: 1_000, rates: self.meters() };
        found.flood = self.groups.get(&FLOOD_GROUP).map(|group| flood_ports(group));
        found.edge_groups = self.groups.keys().filter_map(|id| EdgeGroup::of(*id)).collect();
        found.ecmp_groups = self.groups.values().filter_map(|group| described(group, decode_ecmp)).collect();
        let others = self.groups.iter().filter(|(id, _)| is_protected_port(**id));
        found.protected_ports = others.map(|(_, group)| protected(group)).collect();
        found
    }

    /// Whether the switch has the rule.
    pub(super) fn has(&self, rule: Rule) -> bool {
        self.flows.values().any(|flow| decode(&stats(&flow_of(flow))) == Some(rule))
    }

    /// The number of rules in one table.
    pub(super) fn rules(&self, table: u8) -> usize {
        self.flows.keys().filter(|(at, ..)| *at == table).count()
    }

    fn flow_mod(&mut self, flow: &FlowMod<'_>, bytes: &[u8]) {
        assert_valid(flow);
        let key = (flow.table_id.0, flow.priority, format!("{:?}", flow.matching));
        match flow.command {
            FlowModCommand::Add => drop(self.flows.insert(key, bytes.to_vec())),
            FlowModCommand::DeleteStrict => drop(self.flows.remove(&key)),
            FlowModCommand::Delete => self.delete_all(flow),
            other => panic!("unexpected {other:?}"),
        }
    }

    fn group_mod(&mut self, command: GroupModCommand, id: GroupId, bytes: &[u8]) {
        match command {
            GroupModCommand::Delete => self.delete_group(id),
            GroupModCommand::AddOrMod => drop(self.groups.insert(id, bytes.to_vec())),
            GroupModCommand::Add => assert!(self.groups.insert(id, bytes.to_vec()).is_none(), "group exists"),
            GroupModCommand::Modify => {
                assert!(self.groups.insert(id, bytes.to_vec()).is_some(), "no such group: {id:?}");
            }
            other => panic!("unexpected {other:?}"),
        }
    }

    /// Removes a group and the rules that use it. OpenFlow 1.3.5 §6.7.
    fn delete_group(&mut self, id: GroupId) {
        self.groups.remove(&id);
        self.shares.remove(&id);
        self.resequencers.remove(&id);
        self.flows.retain(|_, flow| {
            let mut actions = flow_of(flow).instructions.iter().flat_map(|it| match it {
                Instruction::ApplyActions(actions) => actions.iter().collect::<Vec<_>>(),
                _ => Vec::new(),
            });
            !actions.any(|action| matches!(action, Action::Group(group) if group == id))
        });
    }

    fn extend(&mut self, extension: Extension) {
        let known = |id: GroupId, groups: &BTreeMap<GroupId, Vec<u8>>| assert!(groups.contains_key(&id));
        match extension {
            Extension::SetSpray { group, .. } => {
                known(group, &self.groups);
                self.shares.insert(group, Vec::new());
            }
            Extension::SetPaths { group, paths } => {
                let shares = self.shares.get_mut(&group).expect("a group that sprays");
                *shares = paths.iter().map(|path| path.weight).collect();
            }
            Extension::SetResequence { group, settings } => {
                known(group, &self.groups);
                self.resequencers.insert(group, settings);
            }
            Extension::SetProbing { group, probing } => {
                let shares = self.shares.get(&group).expect("a group that sprays");
                assert_eq!(probing.backs.len(), shares.len());
            }
            Extension::SetTunnel { .. } => {}
        }
    }

    /// The bucket weights of spray groups.
    pub(super) fn shares(&self) -> Vec<Vec<u32>> {
        self.shares.values().cloned().collect()
    }

    /// The settings of resequencing groups.
    pub(super) fn resequencers(&self) -> Vec<Option<Settings>> {
        self.resequencers.values().copied().collect()
    }

    /// Packets through resequencing groups.
    pub(super) fn ordered(&self) -> usize {
        self.ordered.get()
    }

    fn meter_mod(&mut self, meter: &MeterMod<'_>) {
        let rate = meter.bands.iter().next().map(|band| match band {
            MeterBand::Drop { rate, .. } => rate,
            other => panic!("unexpected {other:?}"),
        });
        let before = match meter.command {
            MeterModCommand::Delete => self.meters.remove(&meter.meter_id),
            _ => self.meters.insert(meter.meter_id, rate.expect("a band")),
        };
        assert_eq!(before.is_some(), meter.command != MeterModCommand::Add, "{meter:?}");
    }

    /// The meter rate of each port in packets a second.
    pub(super) fn meters(&self) -> BTreeMap<PortNo, u32> {
        self.meters.iter().map(|(id, rate)| (PortNo(id.0), *rate)).collect()
    }

    /// Passes a packet through the tables.
    pub(super) fn forward(&self, in_port: PortNo, frame: &[u8]) -> Vec<Output> {
        let (mut outputs, mut frame, mut table) = (Vec::new(), frame.to_vec(), Some(0));
        while let Some(at) = table {
            table = self.apply_table(at, in_port, &mut frame, &mut outputs);
        }
        outputs
    }

    fn apply_table(
        &self,
        table: u8,
        in_port: PortNo,
        frame: &mut [u8],
        outputs: &mut Vec<Output>,
    ) -> Option<u8> {
        let flow = self.lookup(table, in_port, frame)?.clone();
        let flow = flow_of(&flow);
        let mut next = None;
        for instruction in flow.instructions {
            match instruction {
                Instruction::ApplyActions(actions) => {
                    actions.iter().for_each(|action| self.act(action, in_port, frame, table, outputs));
                }
                Instruction::Meter(id) => assert!(self.meters.contains_key(&id), "no such meter"),
                Instruction::GotoTable(table) => next = Some(table.0),
                other => panic!("unexpected {other:?}"),
            }
        }
        next
    }

    fn lookup(&self, table: u8, in_port: PortNo, frame: &[u8]) -> Option<&Vec<u8>> {
        let in_table = self.flows.range((table, 0, String::new())..(table + 1, 0, String::new())).rev();
        in_table.map(|(_, flow)| flow).find(|flow| match Message::decode(flow) {
            Ok((_, Message::FlowMod(flow))) => {
                flow.matching.fields.iter().all(|field| fits(&field, in_port, frame))
            }
            _ => false,
        })
    }

    fn act(
        &self,
        action: Action<'_>,
        in_port: PortNo,
        frame: &mut [u8],
        table: u8,
        outputs: &mut Vec<Output>,
    ) {
        match action {
            Action::SetField(OxmField::EthSrc(mac)) => frame[6..12].copy_from_slice(&mac.value.octets()),
            Action::SetField(OxmField::EthDst(mac)) => frame[..6].copy_from_slice(&mac.value.octets()),
            Action::Output { port: PortNo::CONTROLLER, .. } => {
                outputs.push(Output::Controller(table, frame.to_vec()));
            }
            Action::Output { port: PortNo::TABLE, .. } => outputs.extend(self.forward(in_port, frame)),
            Action::Output { port: PortNo::IN_PORT, .. } => {
                outputs.push(Output::Port(in_port, frame.to_vec()));
            }
            Action::Output { port, .. } if port == in_port => {}
            Action::Output { port, .. } => outputs.push(Output::Port(port, frame.to_vec())),
            Action::Group(id) => self.apply_group(id, in_port, frame, outputs),
            other => panic!("unexpected {other:?}"),
        }
    }

    fn apply_group(&self, id: GroupId, in_port: PortNo, frame: &[u8], outputs: &mut Vec<Output>) {
        let Ok((_, Message::GroupMod(group))) = Message::decode(&self.groups[&id]) else {
            panic!("not a group")
        };
        if self.resequencers.contains_key(&id) {
            self.ordered.set(self.ordered.get() + 1);
        }
        if let Some(shares) = self.shares.get(&id) {
            let buckets = group.buckets.iter().zip(shares).filter(|(_, share)| **share > 0);
            let buckets = buckets.filter(|(bucket, _)| !self.down.contains(&bucket.watch_port));
            let buckets: Vec<_> = buckets.map(|(bucket, _)| bucket).collect();
            self.turns.set(self.turns.get() + 1);
            let Some(bucket) = buckets.get(self.turns.get() % buckets.len().max(1)) else { return };
            let mut frame = frame.to_vec();
            return bucket.actions.iter().for_each(|it| self.act(it, in_port, &mut frame, 0, outputs));
        }
        let live: Vec<_> = group.buckets.iter().filter(|bucket| self.is_live(bucket)).collect();
        if group.group_type == GroupType::Select {
            return self.apply_select(
                &group.buckets.iter().collect::<Vec<_>>(),
                &live,
                in_port,
                frame,
                outputs,
            );
        }
        let live = live.into_iter();
        let count = if group.group_type == GroupType::Ff { 1 } else { usize::MAX };
        for bucket in live.take(count) {
            let mut frame = frame.to_vec();
            bucket.actions.iter().for_each(|action| self.act(action, in_port, &mut frame, 0, outputs));
        }
    }
}

impl FakeSwitch {
    /// Whether the port that a bucket watches is up, or a bucket of the group that it watches is live.
    fn is_live(&self, bucket: &Bucket<'_>) -> bool {
        let watched = self.groups.get(&bucket.watch_group);
        !self.down.contains(&bucket.watch_port)
            && watched.is_none_or(|group| {
                described(group, |it| it.buckets.iter().any(|bucket| self.is_live(&bucket)))
            })
    }

    /// As Open vSwitch: the bucket of the flow's hash, or any that is live if that is not.
    fn apply_select(
        &self,
        all: &[Bucket<'_>],
        live: &[Bucket<'_>],
        in_port: PortNo,
        frame: &[u8],
        outputs: &mut Vec<Output>,
    ) {
        let hash = flow_hash(frame);
        let own = all[hash % all.len()];
        let other = (!live.is_empty()).then(|| live[hash / all.len() % live.len()]);
        let Some(bucket) = Some(own).filter(|own| self.is_live(own)).or(other) else { return };
        let mut frame = frame.to_vec();
        bucket.actions.iter().for_each(|action| self.act(action, in_port, &mut frame, 0, outputs));
    }
}

fn flow_of(bytes: &[u8]) -> FlowMod<'_> {
    match Message::decode(bytes) {
        Ok((_, Message::FlowMod(flow))) => flow,
        other => panic!("not a flow: {other:?}"),
    }
}

fn stats<'a>(flow: &FlowMod<'a>) -> FlowStats<'a> {
    FlowStats {
        table_id: flow.table_id,
        duration_sec: 1,
        duration_nsec: 0,
        priority: flow.priority,
        idle_timeout: flow.idle_timeout,
        hard_timeout: flow.hard_timeout,
        flags: flow.flags,
        cookie: flow.cookie,
        packet_count: 0,
        byte_count: 0,
        matching: flow.matching,
        instructions: flow.instructions,
    }
}

fn described<T>(bytes: &[u8], read: impl FnOnce(&GroupDesc<'_>) -> T) -> T {
    let Ok((_, Message::GroupMod(group))) = Message::decode(bytes) else { panic!("not a group") };
    read(&GroupDesc { group_type: group.group_type, group_id: group.group_id, buckets: group.buckets })
}

fn protected(bytes: &[u8]) -> ProtectedPort {
    described(bytes, |group| decode_protected_port(group).expect("one of ours"))
}

/// A hash of the addresses and ports, as switches have.
fn flow_hash(frame: &[u8]) -> usize {
    let Ok(parsed) = Frame::parse(frame) else { return 0 };
    let ends = parsed.ip().map(|ip| (ip.src, ip.dst));
    let ports = parsed.tcp().map(|tcp| (tcp.src_port, tcp.dst_port));
    rustc_hash::FxBuildHasher.hash_one((ends, ports)) as usize >> 8
}

fn flood_ports(bytes: &[u8]) -> Vec<PortNo> {
    let Ok((_, Message::GroupMod(group))) = Message::decode(bytes) else { panic!("not a group") };
    let actions = group.buckets.iter().flat_map(|bucket| bucket.actions.iter());
    let ports = actions.map(|action| match action {
        Action::Output { port, .. } => port,
        other => panic!("unexpected {other:?}"),
    });
    ports.collect()
}

/// Switches refuse outputs to invalid ports, in deletions too.
fn assert_valid(flow: &FlowMod<'_>) {
    for instruction in flow.instructions {
        let Instruction::ApplyActions(actions) = instruction else { continue };
        for action in actions {
            let outputs = matches!(action, Action::Output { port, .. } if !port.is_physical() && ![PortNo::CONTROLLER, PortNo::IN_PORT].contains(&port));
            assert!(!outputs, "BadOutPort: {flow:?}");
        }
    }
}
