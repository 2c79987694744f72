//! Numbered events for watchers, of which the last few thousand are kept.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use braid_api::{Event, Level, Notice};
use braid_control::{self as control, AlarmSource};
use braid_types::{PortNo, SwitchPort, Time};

use crate::http::wire::{level, notice};
use crate::notices::TimedNotice;

/// Events that are kept.
const MAX_EVENTS: usize = 4_096;
/// Of these, events of one kind, and of one kind about one source: where there are more, the oldest of them give way first.
const MAX_OF_KIND: usize = 2_048;
const MAX_OF_SOURCE: usize = 512;

/// The last events: whoever causes many pushes out its own before those of others.
#[derive(Debug, Default)]
pub(super) struct Events {
    kept: VecDeque<(Origin, Event)>,
    counts: Frequencies<Origin>,
    of_kinds: Frequencies<&'static str>,
}

/// How many there are of each, and which is the most frequent. O(log n).
#[derive(Debug)]
struct Frequencies<K> {
    counts: BTreeMap<K, usize>,
    ranks: BTreeSet<(usize, K)>,
}

/// The kind of an event and what it is about.
type Origin = (&'static str, Option<AlarmSource>);

impl Events {
    /// Keeps notices, numbered from `next` on; returns the messages for watchers.
    pub(super) fn take(&mut self, next: u64, told: &[TimedNotice], lost: u64) -> Vec<(&'static str, String)> {
        let event = |(number, told): (u64, &TimedNotice)| {
            let (time, level) = (told.at, level(&told.notice));
            let (text, shown) = (told.notice.text(&told.names).to_string(), notice(&told.notice));
            (origin(&told.notice), Event { number, time, level, text, notice: shown })
        };
        let mut events: Vec<_> = (next..).zip(told).map(event).collect();
        if lost > 0 {
            let number = next + told.len() as u64;
            let at = told.last().map_or(Time::ZERO, |told| told.at);
            events.push((LOST, missing(number, at, lost)));
        }
        // A switch's error text becomes plain text.
        let message =
            |(_, event): &(Origin, Event)| ("event", serde_json::to_string(event).unwrap_or_default());
        let messages = events.iter().map(message).collect();
        events.into_iter().for_each(|(origin, event)| self.keep(origin, event));
        messages
    }

    fn keep(&mut self, origin: Origin, event: Event) {
        self.counts.increase(origin);
        self.of_kinds.increase(origin.0);
        self.kept.push_back((origin, event));
        if self.kept.len() > MAX_EVENTS {
            let oldest = self.oldest_of_the_loudest();
            if let Some((origin, _)) = self.kept.remove(oldest) {
                self.counts.decrease(origin);
                self.of_kinds.decrease(origin.0);
            }
        }
    }

    /// The place of the event that gives way to a new one.
    fn oldest_of_the_loudest(&self) -> usize {
        let source = self.counts.most().filter(|(_, count)| *count > MAX_OF_SOURCE);
        let kind = self.of_kinds.most().filter(|(_, count)| *count > MAX_OF_KIND);
        let place = match (source, kind) {
            (Some((source, _)), _) => self.kept.iter().position(|(origin, _)| *origin == source),
            (None, Some((kind, _))) => self.kept.iter().position(|(origin, _)| origin.0 == kind),
            (None, None) => None,
        };
        place.unwrap_or(0)
    }

    /// The last events, at most so many, of those that are newer than `after`; the oldest first.
    pub(super) fn last(&self, limit: usize, after: u64) -> Vec<&Event> {
        let old = self.kept.partition_point(|(_, event)| event.number <= after);
        let skipped = old.max(self.kept.len().saturating_sub(limit));
        self.kept.iter().skip(skipped).map(|(_, event)| event).collect()
    }
}

const LOST: Origin = ("events_lost", None);

/// The kind of a notice, and the port, switch or peer that caused it.
fn origin(notice: &control::Notice) -> Origin {
    let switch = |dpid| Some(AlarmSource::Port(SwitchPort::new(dpid, PortNo::ANY)));
    match notice {
        control::Notice::Alarm { source, threat, .. } => (threat.kind(), Some(*source)),
        control::Notice::SwitchJoined { dpid, .. } => ("switch_joined", switch(*dpid)),
        control::Notice::InstalledStateRead { dpid, .. } => ("rules_found", switch(*dpid)),
        control::Notice::SwitchLeft { dpid } => ("switch_left", switch(*dpid)),
        control::Notice::Refused { dpid, .. } => ("command_refused", switch(*dpid)),
        control::Notice::LinkUp { src, .. } => ("link_up", Some(AlarmSource::Port(*src))),
        control::Notice::LinkDown { src, .. } => ("link_down", Some(AlarmSource::Port(*src))),
        control::Notice::LinkDamped { src, .. } => ("link_damped", Some(AlarmSource::Port(*src))),
        control::Notice::LinkRecovered { src, .. } => ("link_recovered", Some(AlarmSource::Port(*src))),
        control::Notice::PortHeld { at, .. } => ("port_held", Some(AlarmSource::Port(*at))),
        control::Notice::HostSeen { at, .. } => ("host_seen", Some(AlarmSource::Port(*at))),
        control::Notice::HostMoved { to, .. } => ("host_moved", Some(AlarmSource::Port(*to))),
        control::Notice::AddressSeen { .. } => ("address_seen", None),
        control::Notice::TransferOpened { .. } | control::Notice::TransferEnded { .. } => ("transfer", None),
        control::Notice::StreamPlaced { .. }
        | control::Notice::StreamSprayed { .. }
        | control::Notice::StreamEnded { .. } => ("stream", None),
        _ => ("other", None),
    }
}

impl<K> Default for Frequencies<K> {
    fn default() -> Self {
        Self { counts: BTreeMap::new(), ranks: BTreeSet::new() }
    }
}

impl<K: Copy + Ord> Frequencies<K> {
    fn most(&self) -> Option<(K, usize)> {
        self.ranks.last().map(|(count, key)| (*key, *count))
    }

    fn increase(&mut self, key: K) {
        let count = self.counts.entry(key).or_default();
        self.ranks.remove(&(*count, key));
        *count += 1;
        self.ranks.insert((*count, key));
    }

    fn decrease(&mut self, key: K) {
        let Entry::Occupied(mut count) = self.counts.entry(key) else { return };
        self.ranks.remove(&(*count.get(), key));
        match count.get() - 1 {
            0 => _ = count.remove(),
            left => {
                count.insert(left);
                self.ranks.insert((left, key));
            }
        }
    }
}

fn missing(number: u64, time: Time, count: u64) -> Event {
    let text = format!("{count} more events came too fast to be reported");
    Event { number, time, level: Level::Warning, text, notice: Notice::EventsLost { count } }
}

#[cfg(test)]
mod tests {
    use braid_types::DatapathId;
    use serde_json::{Value, json};

    use super::*;
    use crate::names::Names;

    fn told(dpid: u64) -> TimedNotice {
        TimedNotice {
            at: Time::from_nanos(dpid),
            notice: braid_control::Notice::SwitchLeft { dpid: DatapathId(dpid) },
            names: Names::default(),
        }
    }

    #[test]
    fn an_event_says_what_happened_when_and_in_words() {
        let mut events = Events::default();
        let messages = events.take(7, &[told(1)], 3);
        let read = |index: usize| serde_json::from_str::<Value>(&messages[index].1).expect("JSON");
        let text = "switch 0000000000000001 left";
        let expected = json!({ "number": 7, "time": 1, "level": "warning", "text": text, "notice": "switch_left",
                               "dpid": "0000000000000001" });
        assert_eq!(read(0), expected);
        assert_eq!((&read(1)["notice"], &read(1)["count"]), (&json!("events_lost"), &json!(3)));
    }

    #[test]
    fn a_peer_that_causes_many_events_pushes_out_its_own() {
        let alarm = |peer: u8| TimedNotice {
            at: Time::ZERO,
            notice: control::Notice::Alarm {
                source: AlarmSource::Peer([10, 0, 0, peer].into()),
                threat: braid_control::Threat::WrongToken,
                count: 1,
            },
            names: Names::default(),
        };
        let mut events = Events::default();
        (1..=100).for_each(|number| _ = events.take(number, &[told(number)], 0));
        events.take(101, &[alarm(2)], 0);
        (102..=20_000).for_each(|number| _ = events.take(number, &[alarm(1)], 0));
        let numbers: Vec<_> = events.last(usize::MAX, 0).iter().map(|event| event.number).collect();
        assert_eq!(numbers.len(), MAX_EVENTS);
        assert_eq!(numbers[..101], (1..=101).collect::<Vec<_>>());
        assert!(numbers.is_sorted() && numbers.last() == Some(&20_000));
    }

    #[test]
    fn a_kind_of_event_that_many_sources_cause_leaves_room_to_others() {
        let mut events = Events::default();
        let notice = control::Notice::SwitchJoined { dpid: DatapathId(1), ports: 1 };
        let joined = TimedNotice { at: Time::ZERO, notice, names: Names::default() };
        events.take(1, &[joined], 0);
        (2..=20_000).for_each(|number| _ = events.take(number, &[told(number)], 0));
        assert_eq!(events.last(usize::MAX, 0).first().map(|event| event.number), Some(1));
        assert_eq!(events.counts.counts.len(), MAX_EVENTS, "what gave way is forgotten");
    }

    #[test]
    fn the_last_events_are_kept() {
        let mut events = Events::default();
        for number in 1..=5_000 {
            events.take(number, &[told(number)], 0);
        }
        let numbers =
            |limit, after| -> Vec<_> { events.last(limit, after).iter().map(|event| event.number).collect() };
        assert_eq!(events.kept.len(), MAX_EVENTS);
        assert_eq!(numbers(2, 0), [4_999, 5_000]);
        assert_eq!(numbers(10, 4_997), [4_998, 4_999, 5_000]);
        assert!(numbers(10, 5_000).is_empty() && numbers(10, u64::MAX).is_empty());
    }
}
