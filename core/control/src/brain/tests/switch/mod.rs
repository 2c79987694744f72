//! A fake switch with the OpenFlow features that the pipeline uses. It panics at others.

mod forwarding;
mod matching;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use braid_edge_protocol::extension::Extension;
use braid_openflow::{
    Action, FlowMod, FlowModCommand, FlowStats, GroupDesc, GroupId, GroupModCommand, Instruction, Message,
    MeterBand, MeterId, MeterMod, MeterModCommand, Xid, frames,
};
use braid_spray::Settings;
use braid_types::PortNo;

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
            Extension::SetTunnel { .. } | Extension::SetBfd { .. } => {}
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
