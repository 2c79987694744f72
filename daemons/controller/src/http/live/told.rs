//! Numbered events for watchers, of which the last few thousand are kept.

use std::collections::VecDeque;

use braid_api::{Event, Level, Notice};
use braid_types::Time;

use crate::http::wire::{level, notice};
use crate::notices::TimedNotice;

/// Events that are kept.
const MAX_EVENTS: usize = 4_096;

/// The last events.
#[derive(Debug, Default)]
pub(super) struct Events(VecDeque<Event>);

impl Events {
    /// Keeps notices, numbered from `next` on; returns the messages for watchers.
    pub(super) fn take(&mut self, next: u64, told: &[TimedNotice], lost: u64) -> Vec<(&'static str, String)> {
        let event = |(number, told): (u64, &TimedNotice)| Event {
            number,
            time: told.at,
            level: level(&told.notice),
            text: told.notice.to_string(),
            notice: notice(&told.notice),
        };
        let mut events: Vec<_> = (next..).zip(told).map(event).collect();
        if lost > 0 {
            let number = next + told.len() as u64;
            let at = told.last().map_or(Time::ZERO, |told| told.at);
            events.push(missing(number, at, lost));
        }
        // A switch's error text becomes plain text.
        let message = |event| ("event", serde_json::to_string(event).unwrap_or_default());
        let messages = events.iter().map(message).collect();
        self.0.extend(events);
        self.0.drain(..self.0.len().saturating_sub(MAX_EVENTS));
        messages
    }

    /// The last events, at most so many, of those that are newer than `after`; the oldest first.
    pub(super) fn last(&self, limit: usize, after: u64) -> Vec<&Event> {
        let newer = self.0.len() - self.0.partition_point(|event| event.number <= after);
        let skipped = self.0.len() - newer.min(limit);
        self.0.iter().skip(skipped).collect()
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

    fn told(dpid: u64) -> TimedNotice {
        TimedNotice {
            at: Time::from_nanos(dpid),
            notice: braid_control::Notice::SwitchLeft { dpid: DatapathId(dpid) },
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
    fn the_last_events_are_kept() {
        let mut events = Events::default();
        for number in 1..=5_000 {
            events.take(number, &[told(number)], 0);
        }
        let numbers =
            |limit, after| -> Vec<_> { events.last(limit, after).iter().map(|event| event.number).collect() };
        assert_eq!(events.0.len(), MAX_EVENTS);
        assert_eq!(numbers(2, 0), [4_999, 5_000]);
        assert_eq!(numbers(10, 4_997), [4_998, 4_999, 5_000]);
        assert!(numbers(10, 5_000).is_empty() && numbers(10, u64::MAX).is_empty());
    }
}
