//! Protected ports as OpenFlow fast-failover groups, encoded and decoded.

use braid_openflow::{
    Action, Bucket, EncodeError, GroupDesc, GroupMod, GroupModCommand, GroupType, List, Masked, Message,
    OxmField, Xid,
};
use braid_types::PortNo;

use super::actions::set_eth_src;
use super::group_ids::{protected_ports_of, protection_group_id};
use super::hop::{BypassEntry, ProtectedPort};
use crate::label::Label;

pub(crate) fn encode_protected_port(
    command: GroupModCommand,
    protected: &ProtectedPort,
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let straight = [Action::output(protected.port)];
    let round = protected.bypass.map(|BypassEntry { label, port }| {
        // Output to the ingress port requires IN_PORT.
        let port = if port == protected.from { PortNo::IN_PORT } else { port };
        [set_eth_src(label.bypass_mac()), Action::output(port)]
    });
    let watching = |port, actions| Bucket { watch_port: port, ..Bucket::new(actions) };
    let mut buckets = vec![watching(protected.port, &straight)];
    if let (Some(actions), Some(BypassEntry { port, .. })) = (&round, protected.bypass) {
        buckets.push(watching(port, actions));
    }
    let group_id = protection_group_id(protected.port, protected.from);
    let buckets = if command == GroupModCommand::Delete { List::EMPTY } else { List::new(&buckets) };
    Message::GroupMod(GroupMod { command, group_type: GroupType::Ff, group_id, buckets }).encode(xid, out)
}

/// The protected port that a switch describes; `None` if it differs from Braid's form in any respect.
pub fn decode_protected_port(group: &GroupDesc<'_>) -> Option<ProtectedPort> {
    let (port, from) = protected_ports_of(group.group_id)?;
    let mut buckets = group.buckets.iter();
    let (first, second) = (buckets.next()?, buckets.next());
    let is_straight = first.watch_port == port && outputs(&first).as_slice() == [port];
    if group.group_type != GroupType::Ff || !is_straight || buckets.next().is_some() {
        return None;
    }
    let Some(second) = second else { return Some(ProtectedPort { port, from, bypass: None }) };
    let wanted = if second.watch_port == from { PortNo::IN_PORT } else { second.watch_port };
    let (label, rest) = bypass(&second)?;
    (rest == wanted).then_some(ProtectedPort {
        port,
        from,
        bypass: Some(BypassEntry { label, port: second.watch_port }),
    })
}

/// The output ports of a bucket; `ANY` for other actions.
fn outputs(bucket: &Bucket<'_>) -> Vec<PortNo> {
    let port = |action| match action {
        Action::Output { port, .. } => port,
        _ => PortNo::ANY,
    };
    bucket.actions.iter().map(port).collect()
}

/// The bypass that a bucket starts, and its first port, if the bucket does nothing else.
fn bypass(bucket: &Bucket<'_>) -> Option<(Label, PortNo)> {
    let mut actions = bucket.actions.iter();
    match (actions.next()?, actions.next()?, actions.next()) {
        (
            Action::SetField(OxmField::EthSrc(Masked { value, mask: None })),
            Action::Output { port, .. },
            None,
        ) => Some((Label::from_bypass_mac(value)?, port)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use braid_openflow::GroupId;
    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::group_ids::MAX_PORT;

    fn described(protected: &ProtectedPort, check: impl FnOnce(GroupDesc<'_>)) {
        let mut bytes = Vec::new();
        encode_protected_port(GroupModCommand::Add, protected, Xid(1), &mut bytes).expect("a short message");
        let Ok((_, Message::GroupMod(group))) = Message::decode(&bytes) else { panic!("not a group") };
        check(GroupDesc { group_type: group.group_type, group_id: group.group_id, buckets: group.buckets });
    }

    fn protected() -> impl Strategy<Value = ProtectedPort> {
        let bypass = prop::option::of((any::<u32>(), 1..=MAX_PORT));
        (1..=MAX_PORT, 0..=MAX_PORT, bypass, any::<bool>()).prop_map(|(port, from, bypass, back)| {
            let way = |(label, port)| BypassEntry {
                label: Label(label),
                port: if back && from > 0 { PortNo(from) } else { PortNo(port) },
            };
            ProtectedPort { port: PortNo(port), from: PortNo(from), bypass: bypass.map(way) }
        })
    }

    proptest! {
        #[test]
        fn every_guard_reads_back_from_the_switch_as_what_it_was(protected in protected()) {
            described(&protected, |group| assert_eq!(decode_protected_port(&group), Some(protected)));
        }

        #[test]
        fn a_group_of_another_type_or_number_is_not_taken_for_that_guard(protected in protected()) {
            described(&protected, |group| {
                assert_eq!(decode_protected_port(&GroupDesc { group_type: GroupType::Select, ..group }), None);
                assert_ne!(decode_protected_port(&GroupDesc { group_id: GroupId(group.group_id.0 ^ 0x10000), ..group }), Some(protected));
            });
        }
    }

    #[test]
    fn a_bypass_that_begins_where_packets_come_from_sends_them_back() {
        let protected = ProtectedPort {
            port: PortNo(3),
            from: PortNo(2),
            bypass: Some(BypassEntry { label: Label(7), port: PortNo(2) }),
        };
        described(&protected, |group| {
            let ports: Vec<_> =
                group.buckets.iter().map(|bucket| (bucket.watch_port, outputs(&bucket))).collect();
            assert_eq!(ports[0], (PortNo(3), vec![PortNo(3)]));
            assert_eq!((ports[1].0, ports[1].1.last()), (PortNo(2), Some(&PortNo::IN_PORT)));
        });
    }
}
