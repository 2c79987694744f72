//! Pending transactions: they wait for labels to be confirmed, and then for their grace time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use braid_types::Time;
use smallvec::SmallVec;

use super::transactions::Owner;
use crate::command::{Commands, HeldPacket};
use crate::label::Label;

/// The pending transactions by label and by due time, so that lookups do not depend on their number.
///
/// Invariant: a transaction is listed under each label that it still needs, or in `due` if it needs none.
#[derive(Debug, Default)]
pub(super) struct Pending {
    transactions: BTreeMap<u64, Waiting>,
    /// May still contain the numbers of dropped transactions.
    by_label: BTreeMap<Label, Vec<u64>>,
    due: BTreeSet<(Time, u64)>,
    /// Packets of dropped transactions, which need another path.
    stranded: VecDeque<HeldPacket>,
    last: u64,
}

#[derive(Debug)]
struct Waiting {
    labels: SmallVec<[Label; 2]>,
    grace: Duration,
    owned: Owned,
}

/// Commands and their owner.
#[derive(Debug)]
pub(super) struct Owned {
    pub(super) owner: Owner,
    pub(super) commands: Commands,
}

impl Pending {
    /// The number of pending transactions.
    pub(super) fn len(&self) -> usize {
        self.transactions.len()
    }

    /// Holds a transaction until `grace` after the last of `labels` is confirmed. There is at least one
    /// label.
    pub(super) fn for_labels(&mut self, mut labels: SmallVec<[Label; 2]>, grace: Duration, owned: Owned) {
        labels.sort_unstable();
        labels.dedup();
        self.last += 1;
        for label in &labels {
            self.by_label.entry(*label).or_default().push(self.last);
        }
        self.transactions.insert(self.last, Waiting { labels, grace, owned });
    }

    /// Holds a transaction until `due`.
    pub(super) fn until(&mut self, due: Time, owned: Owned) {
        self.last += 1;
        self.due.insert((due, self.last));
        let (labels, grace) = (SmallVec::new(), Duration::ZERO);
        self.transactions.insert(self.last, Waiting { labels, grace, owned });
    }

    /// A label is confirmed. Transactions that need no other label become due, now or after their grace time.
    pub(super) fn confirm(&mut self, now: Time, label: Label) {
        for number in self.by_label.remove(&label).unwrap_or_default() {
            let Some(waiting) = self.transactions.get_mut(&number) else { continue };
            waiting.labels.retain(|needed| *needed != label);
            if waiting.labels.is_empty() {
                self.due.insert((now + waiting.grace, number));
            }
        }
    }

    /// A label will not be confirmed. Transactions that need it are dropped; their packets are kept.
    pub(super) fn drop_those_for(&mut self, label: Label) {
        for number in self.by_label.remove(&label).unwrap_or_default() {
            let dropped = self.transactions.remove(&number);
            self.stranded.extend(dropped.iter().flat_map(|waiting| waiting.owned.commands.held()));
        }
    }

    /// Takes a packet of a dropped transaction.
    pub(super) fn next_stranded(&mut self) -> Option<HeldPacket> {
        self.stranded.pop_front()
    }

    /// Takes the due transactions, in order.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<Owned> {
        let mut due = Vec::new();
        while let Some((_, number)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.pop_first();
            due.extend(self.transactions.remove(&number).map(|waiting| waiting.owned));
        }
        due
    }

    /// When the next transaction is due, if that is known.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Whether a transaction waits for a label.
    pub(super) fn needs(&self, label: Label) -> bool {
        let mut numbers = self.by_label.get(&label).into_iter().flatten();
        numbers.any(|number| self.transactions.get(number).is_some_and(|it| it.labels.contains(&label)))
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    const NOW: Time = Time::from_millis(1);

    fn pending() -> Pending {
        let mut pending = Pending::default();
        pending.for_labels(
            smallvec![Label(1), Label(2)],
            Duration::ZERO,
            Owned { owner: Owner::Routing, commands: Commands::default() },
        );
        pending.for_labels(
            smallvec![Label(2), Label(2)],
            Duration::from_millis(5),
            Owned { owner: Owner::Streams, commands: Commands::default() },
        );
        pending
    }

    #[test]
    fn a_batch_is_due_when_the_last_of_its_labels_is_confirmed_and_its_grace_time_is_over() {
        let mut pending = pending();
        pending.confirm(NOW, Label(2));
        assert_eq!(
            (pending.take_due(NOW).len(), pending.next_due()),
            (0, Some(NOW + Duration::from_millis(5)))
        );
        assert_eq!(pending.take_due(Time::from_millis(6)).len(), 1);
        pending.confirm(Time::from_millis(7), Label(1));
        assert_eq!((pending.take_due(Time::from_millis(7)).len(), pending.len()), (1, 0));
    }

    #[test]
    fn the_packets_of_a_batch_that_is_dropped_are_kept_once() {
        let mut pending = pending();
        let mut transaction = Commands::default();
        transaction.send(braid_types::DatapathId(3), crate::Target::Pipeline, b"SYN");
        transaction.send(braid_types::DatapathId(3), crate::Target::Controller, b"probe");
        pending.for_labels(
            smallvec![Label(3), Label(4)],
            Duration::ZERO,
            Owned { owner: Owner::Streams, commands: transaction },
        );
        pending.drop_those_for(Label(1));
        assert_eq!(pending.next_stranded(), None);
        pending.drop_those_for(Label(4));
        pending.drop_those_for(Label(3));
        assert_eq!(
            pending.next_stranded(),
            Some(HeldPacket { dpid: braid_types::DatapathId(3), frame: b"SYN".to_vec() })
        );
        assert_eq!(pending.next_stranded(), None);
    }

    #[test]
    fn what_waits_for_a_label_that_goes_is_dropped_and_nothing_else() {
        let mut pending = pending();
        pending.drop_those_for(Label(1));
        assert!(pending.needs(Label(2)) && !pending.needs(Label(1)));
        pending.confirm(NOW, Label(2));
        assert_eq!(pending.take_due(Time::from_millis(9)).len(), 1);
    }

    #[test]
    fn transactions_come_out_in_the_order_in_which_they_are_due() {
        let mut pending = Pending::default();
        for (at, packets) in [(3, 3), (1, 1), (2, 2)] {
            let mut transaction = Commands::default();
            for _ in 0..packets {
                transaction.send(braid_types::DatapathId(1), crate::Target::Pipeline, &[]);
            }
            pending.until(Time::from_millis(at), Owned { owner: Owner::Streams, commands: transaction });
        }
        let order: Vec<_> =
            pending.take_due(Time::from_millis(9)).iter().map(|owned| owned.commands.len()).collect();
        assert_eq!(order, [1, 2, 3]);
    }
}
