//! What the fake switch does with packets.

use std::hash::BuildHasher;

use braid_openflow::{Action, Bucket, GroupId, GroupType, Instruction, Message, OxmField};
use braid_packet::Frame;
use braid_types::PortNo;

use super::matching::fits;
use super::{FakeSwitch, Output, described, flow_of};

/// A packet in the tables.
pub(super) struct Packet {
    pub(super) in_port: PortNo,
    pub(super) metadata: u64,
    pub(super) frame: Vec<u8>,
}

impl FakeSwitch {
    /// Passes a packet through the tables.
    pub(in crate::brain::tests) fn forward(&self, in_port: PortNo, frame: &[u8]) -> Vec<Output> {
        let mut packet = Packet { in_port, metadata: 0, frame: frame.to_vec() };
        let (mut outputs, mut table) = (Vec::new(), Some(0));
        while let Some(at) = table {
            table = self.apply_table(at, &mut packet, &mut outputs);
        }
        outputs
    }

    fn apply_table(&self, table: u8, packet: &mut Packet, outputs: &mut Vec<Output>) -> Option<u8> {
        let flow = self.lookup(table, packet)?.clone();
        let flow = flow_of(&flow);
        let mut next = None;
        for instruction in flow.instructions {
            match instruction {
                Instruction::ApplyActions(actions) => {
                    let Packet { in_port, frame, .. } = packet;
                    actions.iter().for_each(|action| self.act(action, *in_port, frame, table, outputs));
                }
                Instruction::Meter(id) => assert!(self.meters.contains_key(&id), "no such meter"),
                Instruction::WriteMetadata { metadata, .. } => packet.metadata = metadata.0,
                Instruction::GotoTable(table) => next = Some(table.0),
                other => panic!("unexpected {other:?}"),
            }
        }
        next
    }

    fn lookup(&self, table: u8, packet: &Packet) -> Option<&Vec<u8>> {
        let in_table = self.flows.range((table, 0, String::new())..(table + 1, 0, String::new())).rev();
        in_table.map(|(_, flow)| flow).find(|flow| match Message::decode(flow) {
            Ok((_, Message::FlowMod(flow))) => flow.matching.fields.iter().all(|field| fits(&field, packet)),
            _ => false,
        })
    }

    pub(super) fn act(
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

/// A hash of the addresses and ports, as switches have.
fn flow_hash(frame: &[u8]) -> usize {
    let Ok(parsed) = Frame::parse(frame) else { return 0 };
    let ends = parsed.ip().map(|ip| (ip.src, ip.dst));
    let ports = parsed.tcp().map(|tcp| (tcp.src_port, tcp.dst_port));
    rustc_hash::FxBuildHasher.hash_one((ends, ports)) as usize >> 8
}
