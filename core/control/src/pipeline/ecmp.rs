//! Select groups that spread flows over equal-cost paths, encoded and decoded.

use braid_openflow::{
    Action, Bucket, EncodeError, GroupDesc, GroupMod, GroupModCommand, GroupType, List, Masked, Message,
    OxmField, Xid,
};
#[cfg(test)]
use braid_types::PortNo;
use serde::{Deserialize, Serialize};

use super::actions::{leave, set_eth_dst};
use super::group_ids::{EcmpGroup, protected_ports_of, protection_group_id};
use super::hop::{Exit, Hop};
use crate::label::Label;

/// The buckets of such a group. The switch chooses one by a hash of the five-tuple.
///
/// All have the same weight; a path has as many buckets as its share. So the number of buckets never changes, and
/// a change of one bucket moves its own flows only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EcmpBuckets {
    /// The group.
    pub group: EcmpGroup,
    /// The first hop of each bucket's path.
    pub hops: Vec<Hop>,
}

/// Creates the group, in place of one that an earlier controller left, or changes it.
pub(crate) fn encode_ecmp(
    buckets: &EcmpBuckets,
    is_known: bool,
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let actions: Vec<_> =
        buckets.hops.iter().map(|hop| [set_eth_dst(hop.label.mac()), leave(*hop)]).collect();
    let bucket = |(hop, actions)| bucket(hop, actions);
    let list: Vec<_> = buckets.hops.iter().zip(actions.iter().map(<[_; 2]>::as_slice)).map(bucket).collect();
    if !is_known {
        encode_ecmp_removal(buckets.group, xid, out)?;
    }
    let command = if is_known { GroupModCommand::Modify } else { GroupModCommand::Add };
    put(command, buckets.group, &list, xid, out)
}

/// Removes the group, if it exists, and the rules that need it.
pub(crate) fn encode_ecmp_removal(group: EcmpGroup, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    put(GroupModCommand::Delete, group, &[], xid, out)
}

fn put(
    command: GroupModCommand,
    group: EcmpGroup,
    buckets: &[Bucket<'_>],
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let buckets = List::new(buckets);
    let group = GroupMod { command, group_type: GroupType::Select, group_id: group.id(), buckets };
    Message::GroupMod(group).encode(xid, out)
}

/// A bucket that is live while its port is, or the port's bypass.
fn bucket<'a>(hop: &Hop, actions: &'a [Action<'a>]) -> Bucket<'a> {
    let bucket = Bucket { weight: 1, ..Bucket::new(actions) };
    match hop.exit {
        Exit::Protected { from } => Bucket { watch_group: protection_group_id(hop.port, from), ..bucket },
        _ => Bucket { watch_port: hop.port, ..bucket },
    }
}

/// The group that a switch describes; `None` if it differs from Braid's form in any respect.
pub fn decode_ecmp(group: &GroupDesc<'_>) -> Option<EcmpBuckets> {
    let number = EcmpGroup::of(group.group_id).filter(|_| group.group_type == GroupType::Select)?;
    let hops: Option<Vec<_>> = group.buckets.iter().map(|bucket| hop(&bucket)).collect();
    Some(EcmpBuckets { group: number, hops: hops.filter(|hops| !hops.is_empty())? })
}

/// The hop of a bucket that does nothing else.
fn hop(found: &Bucket<'_>) -> Option<Hop> {
    let mut actions = found.actions.iter();
    let (Action::SetField(OxmField::EthDst(Masked { value, mask: None })), out, None) =
        (actions.next()?, actions.next()?, actions.next())
    else {
        return None;
    };
    let (port, exit) = match out {
        Action::Output { port, .. } => (port, Exit::Plain),
        Action::Group(id) => {
            let (port, from) = protected_ports_of(id)?;
            (port, Exit::Protected { from })
        }
        _ => return None,
    };
    let hop = Hop { label: Label::from_mac(value)?, port, exit };
    let wanted = bucket(&hop, &[]);
    let is_as_written = (found.weight, found.watch_port, found.watch_group)
        == (wanted.weight, wanted.watch_port, wanted.watch_group);
    is_as_written.then_some(hop)
}

#[cfg(test)]
mod tests {
    use braid_openflow::GroupId;
    use proptest::prelude::*;

    use super::*;

    fn described(buckets: &EcmpBuckets, is_known: bool, check: impl FnOnce(GroupDesc<'_>)) {
        let mut bytes = Vec::new();
        encode_ecmp(buckets, is_known, Xid(1), &mut bytes).expect("a short message");
        let last = braid_openflow::frames(&bytes).map(|frame| frame.expect("a whole message")).last();
        let Ok((_, Message::GroupMod(group))) = last.expect("a message").decode() else {
            panic!("not a group")
        };
        check(GroupDesc { group_type: group.group_type, group_id: group.group_id, buckets: group.buckets });
    }

    fn buckets() -> impl Strategy<Value = EcmpBuckets> {
        let hop = (1..u32::MAX >> 1, 1..0xfeff_u32, any::<bool>()).prop_map(|(label, port, is_protected)| {
            let exit = if is_protected { Exit::Protected { from: PortNo(0) } } else { Exit::Plain };
            Hop { label: Label(label), port: PortNo(port), exit }
        });
        (0x8000_u32..=0xffff, prop::collection::vec(hop, 1..40)).prop_map(|(number, hops)| EcmpBuckets {
            group: EcmpGroup::of(GroupId(number)).expect("a number of these groups"),
            hops,
        })
    }

    proptest! {
        #[test]
        fn every_group_reads_back_as_what_it_was(buckets in buckets(), is_known: bool) {
            described(&buckets, is_known, |group| assert_eq!(decode_ecmp(&group), Some(buckets.clone())));
        }

        #[test]
        fn a_group_of_another_type_number_or_without_buckets_is_not_taken_for_one(buckets in buckets()) {
            described(&buckets, true, |group| {
                let others = [
                    GroupDesc { group_type: GroupType::All, ..group },
                    GroupDesc { group_id: GroupId(0x7fff), ..group },
                    GroupDesc { buckets: List::EMPTY, ..group },
                ];
                assert!(others.iter().all(|other| decode_ecmp(other).is_none()));
            });
        }
    }
}
