//! Random operations against a model that is plainly right and slow: it knows every frame's whole life from the start.

use std::time::Duration;

use braid_link_model::{Change, Delay, Fate, OneWay, Parameters, QueueLimit};
use braid_types::{BitsPerSec, Time};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    /// Waits so many nanoseconds, then offers a frame of so many bytes.
    Offer(u64, u32),
    /// Waits, then takes everything that has arrived.
    Poll(u64),
    /// Waits, then changes rate, delay and queue.
    Change(u64, Change),
}

/// A frame: its number, length, and the times at which it is sent and arrives, once they are known.
#[derive(Clone, Debug)]
struct Life {
    id: usize,
    bytes: u32,
    start: Option<Time>,
    sent: Option<Time>,
    arrival: Option<Time>,
    polled: bool,
}

struct Reference {
    parameters: Parameters,
    lives: Vec<Life>,
}

impl Reference {
    /// Gives every frame that begins to be sent by `now` its times, one after the other.
    fn advance(&mut self, now: Time) {
        for index in 0..self.lives.len() {
            if self.lives[index].start.is_some() {
                continue;
            }
            let before = index.checked_sub(1).map(|it| self.lives[it].clone());
            let free = before.as_ref().map_or(Some(Time::ZERO), |it| it.sent);
            let Some(free) = free.filter(|free| *free <= now) else { return };
            let nanos = match self.parameters.rate {
                None => 0,
                Some(rate) => (u64::from(self.lives[index].bytes) * 8_000_000_000).div_ceil(rate.0),
            };
            let sent = free + Duration::from_nanos(nanos);
            let earliest = before.and_then(|it| it.arrival).unwrap_or(Time::ZERO);
            let life = &mut self.lives[index];
            life.start = Some(free);
            life.sent = Some(sent);
            life.arrival = Some((sent + self.parameters.delay.duration()).max(earliest));
        }
    }

    fn offer(&mut self, now: Time, id: usize, bytes: u32) -> Fate {
        self.advance(now);
        let busy = self.lives.last().is_some_and(|it| it.sent.is_none_or(|sent| sent > now));
        let waiting: Vec<_> = self.lives.iter().filter(|it| it.start.is_none()).collect();
        let room = match self.parameters.queue {
            QueueLimit::Packets(limit) => (waiting.len() as u64) < limit,
            QueueLimit::Bytes(limit) => {
                waiting.iter().map(|it| u64::from(it.bytes)).sum::<u64>() + u64::from(bytes) <= limit
            }
        };
        if busy && !room {
            return Fate::Overflowed;
        }
        let life = Life { id, bytes, start: None, sent: None, arrival: None, polled: false };
        if !busy {
            // What is idle begins now, not when the frame before had been sent.
            if let Some(last) = self.lives.last_mut() {
                last.sent = Some(now);
            } else {
                let idle = Life { id: usize::MAX, polled: true, sent: Some(now), ..life.clone() };
                let idle = Life { start: Some(now), arrival: Some(Time::ZERO), ..idle };
                self.lives.push(idle);
            }
        }
        self.lives.push(life);
        self.advance(now);
        Fate::Taken
    }

    fn poll(&mut self, now: Time) -> Vec<usize> {
        self.advance(now);
        let arrived = |it: &&mut Life| !it.polled && it.arrival.is_some_and(|arrival| arrival <= now);
        let arrived = self.lives.iter_mut().filter(arrived);
        arrived
            .map(|it| {
                it.polled = true;
                it.id
            })
            .collect()
    }
}

fn change() -> impl Strategy<Value = Change> {
    let queue =
        prop_oneof![(0..6_u64).prop_map(QueueLimit::Packets), (0..9_000_u64).prop_map(QueueLimit::Bytes)];
    (
        proptest::option::of((100_000..1_000_000_000_u64).prop_map(BitsPerSec)),
        proptest::option::of((0..30_u64).prop_map(Delay::from_millis)),
        proptest::option::of(queue),
    )
        .prop_map(|(rate, delay, queue)| Change { rate, delay, queue, ..Change::default() })
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let wait = prop_oneof![3 => 0..200_000_u64, 1 => 0..40_000_000_u64];
    let one = prop_oneof![
        6 => (wait.clone(), 60..1_515_u32).prop_map(|(wait, bytes)| Operation::Offer(wait, bytes)),
        2 => wait.clone().prop_map(Operation::Poll),
        1 => (wait, change()).prop_map(|(wait, change)| Operation::Change(wait, change)),
    ];
    proptest::collection::vec(one, 1..200)
}

proptest! {
    #[test]
    fn frames_arrive_as_in_the_reference(first in change(), operations in operations()) {
        let parameters = Parameters::default().with(&first);
        let mut link = OneWay::new(parameters, 0);
        let mut reference = Reference { parameters, lives: Vec::new() };
        let mut now = Time::ZERO;
        for (id, operation) in operations.into_iter().enumerate() {
            match operation {
                Operation::Offer(wait, bytes) => {
                    now = now + Duration::from_nanos(wait);
                    prop_assert_eq!(link.offer(now, bytes, || id), reference.offer(now, id, bytes));
                }
                Operation::Poll(wait) => {
                    now = now + Duration::from_nanos(wait);
                    let arrived: Vec<_> = std::iter::from_fn(|| link.poll_arrival(now)).collect();
                    prop_assert_eq!(arrived, reference.poll(now));
                }
                Operation::Change(wait, change) => {
                    now = now + Duration::from_nanos(wait);
                    link.change(now, &change).unwrap();
                    reference.advance(now);
                    reference.parameters = reference.parameters.with(&change);
                }
            }
            let (counters, gauge) = (link.counters(), link.gauge());
            prop_assert_eq!(
                counters.offered.frames,
                counters.delivered.frames + counters.overflowed.frames + gauge.queued.frames + gauge.flying.frames
            );
            prop_assert_eq!(
                counters.offered.bytes,
                counters.delivered.bytes + counters.overflowed.bytes + gauge.queued.bytes + gauge.flying.bytes
            );
        }
    }

    #[test]
    fn following_the_events_delivers_every_frame_at_its_time(first in change(), operations in operations()) {
        let mut link = OneWay::new(Parameters::default().with(&first), 0);
        let mut reference = Reference { parameters: *link.parameters(), lives: Vec::new() };
        let (mut now, mut arrived) = (Time::ZERO, Vec::new());
        for (id, operation) in operations.into_iter().enumerate() {
            let Operation::Offer(wait, bytes) = operation else { continue };
            now = now + Duration::from_nanos(wait);
            while let Some(event) = link.next_event().filter(|event| *event <= now) {
                arrived.extend(std::iter::from_fn(|| link.poll_arrival(event)).map(|id| (id, event)));
            }
            link.offer(now, bytes, || id);
            reference.offer(now, id, bytes);
        }
        while let Some(event) = link.next_event() {
            arrived.extend(std::iter::from_fn(|| link.poll_arrival(event)).map(|id| (id, event)));
        }
        reference.advance(Time::from_nanos(u64::MAX));
        let wanted = reference.lives.iter().filter(|it| !it.polled);
        let wanted: Vec<_> = wanted.map(|it| (it.id, it.arrival.unwrap())).collect();
        prop_assert_eq!(arrived, wanted);
    }
}
