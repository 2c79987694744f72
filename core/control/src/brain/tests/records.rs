//! Incremental copies of the brain's lists.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::TcpFlags;
use braid_steering::{Changed, TransferId};

use super::mptcp::{THREE_WAYS, open};
use super::network::{Network, ip, tuple};
use crate::brain::{Brain, Settings};
use crate::event::Event;
use crate::view::{EdgeList, TransferRecord, TransferView};

/// A copy of all transfers, updated by changes.
#[derive(Default)]
pub(super) struct TransferCopy(BTreeMap<TransferId, TransferRecord>);

impl TransferCopy {
    pub(super) fn update(&mut self, brain: &mut Brain) {
        let ids = match brain.take_transfer_changes() {
            Changed::All(ids) => {
                self.0.clear();
                ids
            }
            Changed::Some { counts, transfers } => {
                for count in counts {
                    self.0.get_mut(&count.transfer).into_iter().for_each(|it| _ = it.count(&count));
                }
                transfers
            }
        };
        for id in ids {
            match brain.copy_transfer(id) {
                Some(transfer) => _ = self.0.insert(id, transfer),
                None => _ = self.0.remove(&id),
            }
        }
    }

    pub(super) fn views(&self) -> Vec<TransferView> {
        self.0.values().map(TransferRecord::view).collect()
    }
}

/// Checks that the updated copy equals the brain's transfers.
fn assert_copied(copy: &mut TransferCopy, network: &mut Network) {
    copy.update(&mut network.brain);
    assert_eq!(copy.views(), network.brain.transfers());
}

#[test]
fn a_copy_of_sprayed_transfers_follows_their_paths() {
    let (mut copy, settings) = (TransferCopy::default(), Settings::default());
    let mut network = Network::start_with_edges(settings, &THREE_WAYS, &[1, 9]);
    for port in [1_000, 1_001] {
        network.send_tcp(1, 9, tuple(ip(1), port, ip(9)), TcpFlags::SYN, &[]);
    }
    assert_copied(&mut copy, &mut network);
    assert_eq!(copy.views()[0].streams[0].spray_paths.len(), 3);
    for (a, b) in [(1, 2), (1, 3), (1, 9)] {
        network.unplug(a, b);
        assert_copied(&mut copy, &mut network);
        network.advance(Duration::from_secs(1));
        assert_copied(&mut copy, &mut network);
    }
    for (a, b) in [(1, 9), (1, 3), (1, 2)] {
        network.plug(a, b);
        network.advance(Duration::from_secs(10));
        assert_copied(&mut copy, &mut network);
    }
    assert_eq!(copy.views()[1].streams[0].spray_paths.len(), 3);
}

#[test]
fn a_copy_has_what_streams_were_counted_to_carry() {
    let (mut copy, stream) = (TransferCopy::default(), tuple(ip(1), 1_000, ip(9)));
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    assert_copied(&mut copy, &mut network);
    open(&mut network, stream);
    assert_copied(&mut copy, &mut network);
    let id = copy.views()[0].streams[0].id;
    for reverse in [false, true] {
        let cookie = crate::Cookie::new(crate::Purpose::Stream { id, reverse });
        network
            .tell(&Event::StreamCounters { dpid: braid_types::DatapathId(1), rules: vec![(cookie, 1_500)] });
        assert_copied(&mut copy, &mut network);
    }
    let [stream] = &copy.views()[0].streams[..] else { panic!("one stream") };
    assert_eq!((stream.bytes_sent, stream.bytes_received), (1_500, 1_500));
}

#[test]
fn a_list_that_is_made_piece_by_piece_is_the_same() {
    let mut network = Network::start_with_edges(Settings::default(), &THREE_WAYS, &[1, 9]);
    network.send_tcp(1, 9, tuple(ip(1), 1_000, ip(9)), TcpFlags::SYN, &[]);
    let (brain, mut edges, mut pieces) = (&network.brain, EdgeList::default(), 1);
    while !brain.list_edges(&mut edges, 1) {
        pieces += 1;
    }
    assert_eq!((edges.into_views(), pieces), (brain.edges(), 2));
    assert_eq!(
        brain.edges().iter().map(|edge| (edge.spray_groups.len(), edge.resequencers.len())).max(),
        Some((1, 1))
    );
    let (mut links, mut switches) = (Vec::new(), Vec::new());
    while let Some(link) = brain.links_after(links.last().map(|link: &crate::view::LinkView| link.src)).next()
    {
        links.push(link);
    }
    while let Some(switch) =
        brain.switches_after(switches.last().map(|switch: &crate::view::SwitchView| switch.dpid)).next()
    {
        switches.push(switch);
    }
    assert_eq!((links, switches), (brain.links(), brain.switches()));
}
