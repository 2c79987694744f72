//! Random sequences of operations: transfers, streams and a copy of both stay consistent.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use braid_steering::{Changed, Count, Group, Limits, Opening, Route, StreamId, TransferId, Transfers};
use braid_types::{BitsPerSec, FiveTuple, Time, Token};
use proptest::prelude::*;

fn tuple(src: u8, port: u16, dst: u8) -> FiveTuple {
    let ip = |last| IpAddr::from([10, 0, 0, last]);
    FiveTuple { src: ip(src), dst: ip(dst), src_port: port, dst_port: 5201 }
}

/// What may happen, in numbers small enough to collide.
#[derive(Clone, Debug)]
enum Step {
    Capable(FiveTuple),
    Parallel(FiveTuple, u64),
    Join(FiveTuple, Token),
    Answer(FiveTuple, Token),
    Count(usize, bool, u64),
    End(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let tuple = || (1..4_u8, 1..4_u16, 7..10_u8).prop_map(|(src, port, dst)| tuple(src, port, dst));
    let token = || (0..3_u32).prop_map(Token);
    prop_oneof![
        tuple().prop_map(Step::Capable),
        (tuple(), 0..3_u64).prop_map(|(tuple, group)| Step::Parallel(tuple, group)),
        (tuple(), token()).prop_map(|(tuple, token)| Step::Join(tuple, token)),
        (tuple(), token()).prop_map(|(tuple, token)| Step::Answer(tuple, token)),
        (0..8_usize, any::<bool>(), 0..3_u64).prop_map(|(at, back, bytes)| Step::Count(at, back, bytes)),
        (0..8_usize).prop_map(Step::End),
    ]
}

fn take(transfers: &mut Transfers, step: Step) {
    match step {
        Step::Capable(tuple) | Step::Join(tuple, _) | Step::Parallel(tuple, _)
            if transfers.by_tuple(&tuple).is_some() => {}
        Step::Capable(tuple) => drop(transfers.open(Time::ZERO, tuple, Opening::Capable)),
        Step::Parallel(tuple, group) => {
            _ = transfers.open(Time::ZERO, tuple, Opening::Parallel(Group::Announced(group)));
        }
        Step::Join(tuple, token) => drop(transfers.open(Time::ZERO, tuple, Opening::Join(token))),
        Step::Answer(tuple, token) => drop(transfers.learn_token(&tuple, token)),
        Step::Count(index, reverse, bytes) => {
            let id = transfers.streams().nth(index).map(|stream| stream.id);
            let now = Time::from_millis(bytes * 200);
            id.into_iter().for_each(|id| transfers.set_bytes(now, id, reverse, bytes));
        }
        Step::End(index) => {
            let id = transfers.streams().nth(index).map(|stream| stream.id);
            drop(id.and_then(|id| transfers.end(id)));
        }
    }
}

/// What is shown of a stream.
type Shown = (StreamId, [u64; 2], [BitsPerSec; 2], Option<Route>);

/// What is shown of a transfer.
fn shown(transfers: &Transfers, id: TransferId) -> Option<Vec<Shown>> {
    let streams = transfers.transfer(id)?.streams.iter().filter_map(|id| transfers.stream(*id));
    Some(streams.map(|stream| (stream.id, stream.bytes, stream.rates, stream.route.clone())).collect())
}

/// A copy of all transfers that is brought up to date piece by piece.
#[derive(Default)]
struct Copy {
    transfers: BTreeMap<TransferId, Vec<Shown>>,
    pending: VecDeque<TransferId>,
}

impl Copy {
    /// Visits at most so many transfers; whether the copy was up to date when this round of visits began.
    fn update(&mut self, original: &mut Transfers, count: usize) -> bool {
        if self.pending.is_empty() {
            match original.take_changes() {
                Changed::All(ids) => (self.transfers, self.pending) = (BTreeMap::new(), ids.into()),
                Changed::Some { counts, transfers } => {
                    counts.into_iter().for_each(|count| self.count(&count));
                    self.pending = transfers.into();
                }
            }
        }
        for id in self.pending.drain(..count.min(self.pending.len())) {
            original.visit(id);
            match shown(original, id) {
                Some(streams) => _ = self.transfers.insert(id, streams),
                None => _ = self.transfers.remove(&id),
            }
        }
        self.pending.is_empty()
    }

    fn count(&mut self, count: &Count) {
        let streams = self.transfers.get_mut(&count.transfer);
        if let Some(stream) = streams.into_iter().flatten().find(|stream| stream.0 == count.stream) {
            stream.1[usize::from(count.reverse)] = count.bytes;
            stream.2[usize::from(count.reverse)] = count.rate;
        }
    }
}

proptest! {
    #[test]
    fn streams_and_transfers_always_agree(steps in proptest::collection::vec(step(), 0..60)) {
        let mut transfers = Transfers::new(Limits { streams: 10, streams_per_transfer: 4 });
        for step in steps {
            take(&mut transfers, step);
            let mut listed = 0;
            for transfer in transfers.transfers() {
                prop_assert!((1..=4).contains(&transfer.streams.len()));
                listed += transfer.streams.len();
                for id in &transfer.streams {
                    prop_assert_eq!(transfers.stream(*id).map(|stream| stream.transfer), Some(transfer.id));
                }
            }
            for group in (0..3).map(Group::Announced) {
                let members = transfers.streams().filter(|stream| stream.opening == Opening::Parallel(group));
                let members: Vec<_> = members.map(|stream| stream.transfer).collect();
                let of_group = transfers.of_group(group).map(|transfer| transfer.id);
                prop_assert_eq!(of_group.is_some(), !members.is_empty());
                prop_assert!(members.iter().all(|transfer| Some(*transfer) == of_group));
            }
            prop_assert_eq!(listed, transfers.streams().count());
            prop_assert!(listed <= 10);
            for stream in transfers.streams() {
                prop_assert_eq!(transfers.by_tuple(&stream.tuple).map(|found| found.id), Some(stream.id));
            }
        }
    }

    #[test]
    fn a_copy_kept_by_changes_has_what_there_is(
        steps in proptest::collection::vec((step(), 0..3_usize), 0..80)
    ) {
        let mut transfers = Transfers::new(Limits { streams: 10, streams_per_transfer: 4 });
        let mut copy = Copy::default();
        for (step, visits) in steps {
            take(&mut transfers, step);
            copy.update(&mut transfers, visits);
        }
        // What was begun, and what has changed since.
        while !copy.update(&mut transfers, 1) {}
        while !copy.update(&mut transfers, 1) {}
        let all: BTreeMap<_, _> =
            transfers.transfers().filter_map(|it| Some((it.id, shown(&transfers, it.id)?))).collect();
        prop_assert_eq!(copy.transfers, all);
    }
}
