//! One packet's way: tables, then groups and ports.

use std::sync::Arc;

use braid_openflow::{
    BufferId, Bytes, ErrorCode, GroupId, GroupType, Match, MaxLen, Message, OxmField, PacketIn,
    PacketInReason, PacketInReasons, PacketOut, PortConfig, TableId,
};
use braid_spray::Fate;
use braid_types::{MacAddr, PortNo, Time};

use super::Switch;
use super::connections::Unasked;
use super::journey::Journey;
use crate::action::{Act, acts};
use crate::group::Waiting;
use crate::key::{self, Key};
use crate::packet::Packet;
use crate::probe::put_sent;
use crate::rewrite;

/// Groups may hand packets to groups, so far.
pub(super) const DEPTH: u8 = 4;

impl Switch {
    /// A frame came in by a port. [`Self::poll_packets`] gives what leaves for it.
    pub fn handle_packet(&mut self, now: Time, in_port: PortNo, packet: Packet) {
        let Some(port) = self.ports.get_mut(&in_port) else { return };
        port.counters.rx_packets += 1;
        port.counters.rx_bytes += packet.data.len() as u64;
        if port.config.contains(PortConfig::NO_RECV) || port.config.contains(PortConfig::PORT_DOWN) {
            port.counters.rx_dropped += 1;
            return;
        }
        if !self.take_probe(now, in_port, &packet.data) {
            self.came.count(in_port, &packet);
            self.through_tables(now, Journey::new(in_port, packet));
        }
    }

    pub(super) fn packet_out(&mut self, now: Time, out: &PacketOut<'_>) -> Result<(), ErrorCode> {
        use braid_openflow::BadRequestCode::{BadPort, BufferUnknown};
        if out.buffer_id != BufferId::NO_BUFFER {
            return Err(ErrorCode::BadRequest(BufferUnknown));
        }
        if out.in_port != PortNo::CONTROLLER && !self.ports.contains_key(&out.in_port) {
            return Err(ErrorCode::BadRequest(BadPort));
        }
        let acts = acts(out.actions)?;
        let mut journey = Journey::new(out.in_port, Packet::complete(out.data.to_vec()));
        self.run(now, &mut journey, &acts);
        Ok(())
    }

    fn through_tables(&mut self, now: Time, mut journey: Journey) {
        let mut table = TableId(0);
        loop {
            let bytes = journey.bytes();
            let found = self.tables.get_mut(usize::from(table.0)).and_then(|table| table.find(&journey.key));
            let Some(entry) = found else { return };
            entry.packets += 1;
            entry.bytes += bytes;
            entry.used = now;
            journey.table = table;
            journey.cookie = entry.cookie;
            journey.reason = reason(entry.priority);
            // The actions are shared: no copy, and the tables are free for what they lead to.
            let apply = Arc::clone(&entry.program.apply);
            let write = Arc::clone(&entry.program.write);
            let (clear, metadata, goto) = (entry.program.clear, entry.program.metadata, entry.program.goto);
            journey.last = goto.is_none() && write.is_empty() && (clear || journey.set.is_empty());
            self.run(now, &mut journey, &apply);
            if clear {
                journey.set.clear();
            }
            journey.set.write(&write);
            if let Some((value, mask)) = metadata {
                let old = journey.key.get(key::METADATA);
                journey.key.set(key::METADATA, old & !mask | value & mask);
            }
            match goto {
                Some(next) => table = next,
                None => break,
            }
        }
        if !journey.set.is_empty() {
            let acts: Vec<_> = journey.set.acts().collect();
            journey.last = true;
            self.run(now, &mut journey, &acts);
        }
    }

    fn run(&mut self, now: Time, journey: &mut Journey, acts: &[Act]) {
        let last = journey.last;
        for (act, left) in acts.iter().zip((0..acts.len()).rev()) {
            journey.last = last && left == 0;
            match act {
                Act::Output { port, max_len } => self.output(now, journey, *port, *max_len),
                Act::Group(group) => self.through_group(now, journey, *group),
                change => {
                    if !rewrite::apply(change, &mut journey.packet, &journey.key, &journey.layout) {
                        journey.reason = PacketInReason::InvalidTtl;
                        self.send_up(journey, MaxLen(128));
                        break;
                    }
                    journey.follow(change);
                }
            }
        }
        journey.last = last;
    }

    fn output(&mut self, now: Time, journey: &mut Journey, port: PortNo, max_len: MaxLen) {
        match port {
            PortNo::CONTROLLER => self.send_up(journey, max_len),
            PortNo::IN_PORT => self.send(now, journey.in_port, journey),
            PortNo::TABLE if journey.depth < DEPTH => {
                let mut again = Journey::new(journey.in_port, journey.give());
                again.depth = journey.depth + 1;
                self.through_tables(now, again);
            }
            PortNo::ALL | PortNo::FLOOD => self.flood(now, journey),
            // A packet does not leave by the port by which it came, unless by that name.
            port if port != journey.in_port => self.send(now, port, journey),
            _ => {}
        }
    }

    fn flood(&mut self, now: Time, journey: &mut Journey) {
        let ports: Vec<_> = self.ports.keys().copied().filter(|it| *it != journey.in_port).collect();
        let last = std::mem::replace(&mut journey.last, false);
        journey.is_original = false;
        ports.into_iter().for_each(|port| self.send(now, port, journey));
        journey.last = last;
    }

    pub(super) fn send(&mut self, now: Time, number: PortNo, journey: &mut Journey) {
        let Some(port) = self.ports.get_mut(&number) else { return };
        if !port.is_live() || port.config.contains(PortConfig::NO_FWD) {
            port.counters.tx_dropped += 1;
            return;
        }
        let mtu = journey.layout.network.and_then(|network| port.mtu(network));
        if let Some(mtu) = mtu.filter(|mtu| journey.length() > *mtu) {
            return self.send_too_long(now, number, journey, mtu);
        }
        port.counters.tx_packets += 1;
        port.counters.tx_bytes += journey.bytes();
        let mut packet = journey.give();
        if journey.is_probe {
            let label = MacAddr::from_u64(journey.key.get(key::ETH_DST));
            put_sent(&mut packet.data, self.left.probed(now, number, label));
        } else if !journey.is_answer {
            self.left.count(number, &packet);
        }
        self.sent.push((number, packet));
    }

    fn send_up(&mut self, journey: &Journey, max_len: MaxLen) {
        if self.ports.get(&journey.in_port).is_some_and(|it| it.config.contains(PortConfig::NO_PACKET_IN)) {
            return;
        }
        let mut packet = journey.packet.clone();
        packet.finish_checksum();
        let most = if max_len == MaxLen::NO_BUFFER { usize::MAX } else { usize::from(max_len.0) };
        let fields = [OxmField::InPort(journey.in_port)];
        // A message has at most 64 KiB: what is longer is cut. Nothing is buffered here.
        let data = packet.data.get(..most.min(65_000)).unwrap_or(&packet.data);
        let message = Message::PacketIn(PacketIn {
            buffer_id: BufferId::NO_BUFFER,
            total_len: packet.data.len().try_into().unwrap_or(u16::MAX),
            reason: journey.reason,
            table_id: journey.table,
            cookie: journey.cookie,
            matching: Match::new(&fields),
            data: Bytes(data),
        });
        let reason = match journey.reason {
            PacketInReason::NoMatch => PacketInReasons::NO_MATCH,
            PacketInReason::InvalidTtl => PacketInReasons::INVALID_TTL,
            _ => PacketInReasons::ACTION,
        };
        self.connections.tell(&Unasked::PacketIn(reason), &message);
    }

    fn through_group(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        if journey.depth >= DEPTH {
            return;
        }
        let bytes = journey.bytes();
        let Some(group) = self.groups.get_mut(&id) else { return };
        group.packets += 1;
        group.bytes += bytes;
        if group.order.is_some() {
            return self.through_order(now, journey, id);
        }
        match group.kind {
            GroupType::All => self.through_all(now, journey, id),
            GroupType::Indirect => self.through_bucket(now, journey, id, 0),
            GroupType::Ff => {
                let first = (0..group.buckets.len()).find(|bucket| self.is_live(id, *bucket, 0));
                first.into_iter().for_each(|bucket| self.through_bucket(now, journey, id, bucket));
            }
            _ if group.tunnel.is_some() => self.through_tunnel(now, journey, id),
            _ => self.through_selected(now, journey, id),
        }
    }

    pub(super) fn through_selected(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        let chosen = self.select(now, journey, id);
        chosen.into_iter().for_each(|bucket| self.through_bucket(now, journey, id, bucket));
    }

    fn through_all(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        let count = self.groups.get(&id).map_or(0, |group| group.buckets.len());
        let last = journey.last;
        journey.is_original &= count == 1;
        for bucket in 0..count {
            journey.last = last && bucket + 1 == count;
            self.through_bucket(now, journey, id, bucket);
        }
        journey.last = last;
    }

    /// What comes after the group has the packet as it came, in its tunnel.
    fn through_order(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        let tunnelled = self.groups.get(&id).is_some_and(|group| group.tunnel.is_some());
        let before =
            (tunnelled && !journey.last).then(|| (journey.packet.clone(), journey.key, journey.layout));
        self.put_in_order(now, journey, id);
        if let Some(before) = before {
            (journey.packet, journey.key, journey.layout) = before;
        }
    }

    fn put_in_order(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        let flow = match self.leave_tunnel(journey, id) {
            Some(numbered) => Some(key::numbered_flow(&journey.key, numbered)),
            None => key::five_tuple(&journey.key, &journey.layout),
        };
        let order = self.groups.get_mut(&id).and_then(|group| group.order.as_mut());
        let Some((order, (flow, segment))) = order.zip(flow) else {
            return self.through_bucket(now, journey, id, 0);
        };
        let way = order.way(journey.in_port, journey.label);
        let size = u32::try_from(journey.packet.data.len()).unwrap_or(u32::MAX);
        let waiting = || {
            let mut packet = journey.give();
            packet.settle();
            Waiting { in_port: journey.in_port, packet }
        };
        if order.buffer.offer(now, &flow, segment, way, size, waiting) == Fate::Forward {
            self.through_bucket(now, journey, id, 0);
        }
        self.release(now, id);
    }

    /// Sends on what a group that puts in order has let go.
    pub(super) fn release(&mut self, now: Time, id: GroupId) {
        let next =
            |it: &mut Self| it.groups.get_mut(&id).and_then(|it| it.order.as_mut()?.buffer.poll_packet());
        while let Some(Waiting { in_port, packet }) = next(self) {
            let mut journey = Journey { is_original: false, ..Journey::new(in_port, packet) };
            self.through_bucket(now, &mut journey, id, 0);
        }
    }

    pub(super) fn release_in_time(&mut self, now: Time) {
        let due = |order: &crate::group::Order| order.buffer.poll_timeout().is_some_and(|it| it <= now);
        let groups = self.groups.iter();
        let groups: Vec<_> = groups
            .filter(|(_, group)| group.order.as_ref().is_some_and(|it| due(it)))
            .map(|(id, _)| *id)
            .collect();
        for id in groups {
            if let Some(order) = self.groups.get_mut(&id).and_then(|group| group.order.as_mut()) {
                order.buffer.handle_timeout(now);
            }
            self.release(now, id);
        }
    }

    pub(super) fn through_bucket(&mut self, now: Time, journey: &mut Journey, id: GroupId, bucket: usize) {
        let bytes = journey.bytes();
        let Some(bucket) = self.groups.get_mut(&id).and_then(|group| group.buckets.get_mut(bucket)) else {
            return;
        };
        bucket.packets += 1;
        bucket.bytes += bytes;
        let actions = Arc::clone(&bucket.actions);
        // What a bucket does to a packet, only that bucket sees. OpenFlow 1.3.5 §5.6.1.
        let before = (!journey.last).then(|| (journey.packet.clone(), journey.key, journey.layout));
        journey.depth += 1;
        self.run(now, journey, &actions);
        journey.depth -= 1;
        if let Some(before) = before {
            (journey.packet, journey.key, journey.layout) = before;
        }
    }

    pub(super) fn select(&mut self, now: Time, journey: &Journey, id: GroupId) -> Option<usize> {
        let count = self.groups.get(&id)?.buckets.len();
        // A group has at most 64 buckets.
        let live =
            (0..count).filter(|bucket| self.is_live(id, *bucket, 0)).fold(0_u64, |all, it| all | 1 << it);
        let is_live = |bucket: &usize| live >> bucket & 1 != 0;
        let group = self.groups.get_mut(&id)?;
        let bytes = u32::try_from(journey.packet.data.len()).unwrap_or(u32::MAX);
        if let Some(scheduler) = &mut group.spray {
            let pick = |_| scheduler.pick(now, bytes).filter(is_live);
            return (0..count).find_map(pick).or_else(|| (0..count).find(is_live));
        }
        let weight = |bucket: usize| u64::from(group.buckets.get(bucket).map_or(0, |it| it.weight));
        let total: u64 = (0..count).filter(is_live).map(weight).sum();
        let mut place = flow_hash(&journey.key).checked_rem(total)?;
        (0..count).filter(is_live).find(|bucket| match place.checked_sub(weight(*bucket)) {
            Some(left) => {
                place = left;
                false
            }
            None => true,
        })
    }

    /// Whether a bucket's packets can leave: what it watches is live.
    pub(super) fn is_live(&self, id: GroupId, bucket: usize, depth: u8) -> bool {
        let Some(bucket) = self.groups.get(&id).and_then(|group| group.buckets.get(bucket)) else {
            return false;
        };
        let port = bucket.watch_port == PortNo::ANY
            || self.ports.get(&bucket.watch_port).is_some_and(crate::port::SwitchPort::is_live);
        let watched = || self.groups.get(&bucket.watch_group).map_or(0, |group| group.buckets.len());
        let group = bucket.watch_group == GroupId::ANY
            || depth < DEPTH && (0..watched()).any(|it| self.is_live(bucket.watch_group, it, depth + 1));
        port && group
    }
}

/// A flow without fields and of priority 0 is the table-miss entry. OpenFlow 1.3.5 §5.4.
const fn reason(priority: u16) -> PacketInReason {
    if priority == 0 { PacketInReason::NoMatch } else { PacketInReason::Action }
}

/// The same for all packets of a flow.
fn flow_hash(key: &Key) -> u64 {
    let words = [key.0[1], key.0[2], key.0[3] & 0xffff_ffff, key.0[4], key.0[5], key.0[6], key.0[7]];
    words.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, word| {
        let product = u128::from(hash ^ word).wrapping_mul(0xa076_1d64_78bd_642f_u128);
        (product as u64) ^ (product >> 64) as u64
    })
}
