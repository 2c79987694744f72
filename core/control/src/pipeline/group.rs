//! Guards as OpenFlow groups of type fast failover, and back.

use braid_openflow::{
    Action, Bucket, EncodeError, GroupDesc, GroupId, GroupMod, GroupModCommand, GroupType, List, Masked,
    Message, OxmField, Xid,
};
use braid_types::PortNo;

use super::flow::set_eth_src;
use super::hop::Guard;
use crate::label::Label;

/// Port numbers of guards take 16 bits, and those of groups end below the reserved ones.
const MOST: u32 = 0xfeff;

/// Whether a guard can be told from others by the numbers of these ports.
pub(crate) fn can_be_guarded(port: PortNo, from: PortNo) -> bool {
    (1..=MOST).contains(&port.0) && from.0 <= MOST
}

/// Whether a group has a number of a guard.
pub(crate) fn is_guard(id: GroupId) -> bool {
    guard_ports(id).is_some()
}

/// The group that guards `port` for packets that came in by `from`.
pub(super) fn guard_id(port: PortNo, from: PortNo) -> GroupId {
    GroupId(port.0 << 16 | from.0 & 0xffff)
}

/// The ports of a guard by its group.
pub(super) fn guard_ports(id: GroupId) -> Option<(PortNo, PortNo)> {
    let port = id.0 >> 16;
    (1..=MOST).contains(&port).then_some((PortNo(port), PortNo(id.0 & 0xffff)))
}

pub(super) fn encode_guard(
    command: GroupModCommand,
    guard: &Guard,
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let straight = [Action::output(guard.port)];
    let round = guard.detour.map(|(label, port)| {
        // A packet leaves by the port that it came in by only if that is said so.
        let port = if port == guard.from { PortNo::IN_PORT } else { port };
        [set_eth_src(label.detour_mac()), Action::output(port)]
    });
    let watching = |port, actions| Bucket { watch_port: port, ..Bucket::new(actions) };
    let mut buckets = vec![watching(guard.port, &straight)];
    if let (Some(actions), Some((_, port))) = (&round, guard.detour) {
        buckets.push(watching(port, actions));
    }
    let group_id = guard_id(guard.port, guard.from);
    let buckets = if command == GroupModCommand::Delete { List::EMPTY } else { List::new(&buckets) };
    Message::GroupMod(GroupMod { command, group_type: GroupType::Ff, group_id, buckets }).encode(xid, out)
}

/// The guard that a switch describes; `None` unless it is in every respect what we write for it.
pub fn decode_guard(group: &GroupDesc<'_>) -> Option<Guard> {
    let (port, from) = guard_ports(group.group_id)?;
    let mut buckets = group.buckets.iter();
    let (first, second) = (buckets.next()?, buckets.next());
    let is_straight = first.watch_port == port && outputs(&first).as_slice() == [port];
    if group.group_type != GroupType::Ff || !is_straight || buckets.next().is_some() {
        return None;
    }
    let Some(second) = second else { return Some(Guard { port, from, detour: None }) };
    let wanted = if second.watch_port == from { PortNo::IN_PORT } else { second.watch_port };
    let (label, rest) = detour(&second)?;
    (rest == wanted).then_some(Guard { port, from, detour: Some((label, second.watch_port)) })
}

/// What a bucket does, if it only sends packets out of ports.
fn outputs(bucket: &Bucket<'_>) -> Vec<PortNo> {
    let port = |action| match action {
        Action::Output { port, .. } => port,
        _ => PortNo::ANY,
    };
    bucket.actions.iter().map(port).collect()
}

/// The detour that a bucket begins, and where, if it does that and nothing else.
fn detour(bucket: &Bucket<'_>) -> Option<(Label, PortNo)> {
    let mut actions = bucket.actions.iter();
    match (actions.next()?, actions.next()?, actions.next()) {
        (
            Action::SetField(OxmField::EthSrc(Masked { value, mask: None })),
            Action::Output { port, .. },
            None,
        ) => Some((Label::from_detour_mac(value)?, port)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn described(guard: &Guard, check: impl FnOnce(GroupDesc<'_>)) {
        let mut bytes = Vec::new();
        encode_guard(GroupModCommand::Add, guard, Xid(1), &mut bytes).expect("a short message");
        let Ok((_, Message::GroupMod(group))) = Message::decode(&bytes) else { panic!("not a group") };
        check(GroupDesc { group_type: group.group_type, group_id: group.group_id, buckets: group.buckets });
    }

    fn guard() -> impl Strategy<Value = Guard> {
        let detour = prop::option::of((any::<u32>(), 1..=MOST));
        (1..=MOST, 0..=MOST, detour, any::<bool>()).prop_map(|(port, from, detour, back)| {
            let way =
                |(label, port)| (Label(label), if back && from > 0 { PortNo(from) } else { PortNo(port) });
            Guard { port: PortNo(port), from: PortNo(from), detour: detour.map(way) }
        })
    }

    proptest! {
        #[test]
        fn every_guard_reads_back_from_the_switch_as_what_it_was(guard in guard()) {
            described(&guard, |group| assert_eq!(decode_guard(&group), Some(guard)));
        }

        #[test]
        fn a_group_of_another_type_or_number_is_not_taken_for_that_guard(guard in guard()) {
            described(&guard, |group| {
                assert_eq!(decode_guard(&GroupDesc { group_type: GroupType::Select, ..group }), None);
                assert_ne!(decode_guard(&GroupDesc { group_id: GroupId(group.group_id.0 ^ 0x10000), ..group }), Some(guard));
            });
        }
    }

    #[test]
    fn a_detour_that_begins_where_packets_come_from_sends_them_back() {
        let guard = Guard { port: PortNo(3), from: PortNo(2), detour: Some((Label(7), PortNo(2))) };
        described(&guard, |group| {
            let ports: Vec<_> =
                group.buckets.iter().map(|bucket| (bucket.watch_port, outputs(&bucket))).collect();
            assert_eq!(ports[0], (PortNo(3), vec![PortNo(3)]));
            assert_eq!((ports[1].0, ports[1].1.last()), (PortNo(2), Some(&PortNo::IN_PORT)));
        });
    }

    #[test]
    fn numbers_of_guards_are_not_those_of_other_groups() {
        assert!(!is_guard(super::super::FLOOD_GROUP) && !is_guard(GroupId(0xffff_ff00)));
        assert!(is_guard(guard_id(PortNo(1), PortNo(0))));
        assert!(!can_be_guarded(PortNo(0x1_0000), PortNo(1)) && can_be_guarded(PortNo(9), PortNo(0)));
    }
}
