//! One direction of a link, at one event per frame.

use braid_link_model::{Parameters, QueueLimit};
use braid_types::SplitMix64;

use super::Picos;
use super::packet::Packet;
use super::ring::Ring;

/// One directed link. Its frames, queued or in flight, form one queue in the order of arrival.
///
/// The arrival time of a frame is computed when the frame is offered; `braid_link_model::OneWay` does so when its
/// transmission begins. A link here can only be cut, and does not change otherwise. For such links the two agree to a
/// nanosecond, and about every frame that finds the queue full (a test). So a frame costs one event a link instead of
/// two.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    inside: Ring<Packet>,
    /// The number of frames at the front that are known to be sent, and the bytes of the others. Updated on access.
    sent: u32,
    unsent_bytes: u64,
    /// When the transmission of all offered frames ends.
    free: Picos,
    /// The transmission time of a byte in picoseconds, with 16 fractional bits.
    byte_time: u64,
    delay: Picos,
    queue: QueueLimit,
    /// A frame is lost if 53 random bits are below.
    loss: u64,
    random: SplitMix64,
    cut: bool,
    /// Senders wait while the backlog takes longer than this.
    gate: Picos,
    /// Whether the event queue has an entry for this link.
    pub(crate) is_due: bool,
    pub(crate) counters: LinkCounters,
}

/// The fates of the frames offered to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounters {
    /// Frames that arrived.
    pub delivered: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames for which the queue had no room.
    pub overflowed: u64,
    /// Frames lost by chance, or because the link was cut.
    pub lost: u64,
}

impl Link {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        let rate = parameters.rate.map_or(u64::MAX, |rate| rate.0);
        Self {
            inside: Ring::new(),
            sent: 0,
            unsent_bytes: 0,
            free: Picos::ZERO,
            byte_time: ((8_000_000_000_000_u128 << 16) / u128::from(rate.max(1))) as u64,
            delay: parameters.delay.duration().into(),
            queue: parameters.queue,
            loss: (parameters.loss.share() * (1_u64 << 53) as f64) as u64,
            random: SplitMix64::new(seed),
            cut: false,
            gate: Picos::NEVER,
            is_due: false,
            counters: LinkCounters::default(),
        }
    }

    /// Makes senders wait for this link, which leaves their host, instead of filling its queue. The backlog is Linux's: a
    /// millisecond, two frames at least (TCP small queues).
    pub(crate) fn hold_senders(&mut self) {
        self.gate = Picos::from_millis(1).max(self.sending_time(2 * 1_514));
    }

    /// When a sender that has to wait now may continue.
    pub(crate) fn wait(&self, now: Picos) -> Option<Picos> {
        let backlog = self.free - now;
        (backlog > self.gate).then(|| now + (backlog - Picos(self.gate.0 / 2)))
    }

    /// Offers a packet, which is queued if there is room; afterwards [`Self::next_arrival`] gives the next event.
    pub(crate) fn offer(&mut self, now: Picos, mut packet: Packet) {
        if self.cut {
            self.counters.lost += 1;
            return;
        }
        if self.free > now && !self.has_room(now, packet.size()) {
            self.counters.overflowed += 1;
            return;
        }
        self.free = self.free.max(now) + self.sending_time(packet.size());
        packet.arrival = self.free + self.delay;
        if self.loss > 0 && self.random.next_u64() >> 11 < self.loss {
            packet.lose();
        }
        self.unsent_bytes += u64::from(packet.size());
        self.inside.push(packet);
    }

    /// The packet that arrives now, unless it is lost.
    pub(crate) fn take(&mut self, now: Picos) -> Option<Packet> {
        let packet = self.inside.front().filter(|packet| packet.arrival <= now)?;
        self.inside.pop();
        match self.sent.checked_sub(1) {
            Some(left) => self.sent = left,
            None => self.unsent_bytes -= u64::from(packet.size()),
        }
        if packet.is_lost() {
            self.counters.lost += 1;
            return None;
        }
        self.counters.delivered += 1;
        self.counters.bytes += u64::from(packet.size());
        Some(packet)
    }

    pub(crate) fn next_arrival(&self) -> Option<Picos> {
        self.inside.front().map(|packet| packet.arrival)
    }

    /// Loses all frames inside, and all that are offered until it is restored.
    pub(crate) fn cut(&mut self, now: Picos) {
        self.counters.lost += self.inside.len() as u64;
        self.inside.clear();
        (self.sent, self.unsent_bytes) = (0, 0);
        self.free = now;
        self.cut = true;
    }

    pub(crate) const fn restore(&mut self) {
        self.cut = false;
    }

    /// Bytes of memory besides its own.
    pub(crate) const fn memory(&self) -> usize {
        self.inside.memory()
    }

    // No frame is longer than 2¹⁵ bytes, and at the least rate a byte takes less than 2⁴⁶ units.
    const fn sending_time(&self, bytes: u16) -> Picos {
        Picos((bytes as u64).saturating_mul(self.byte_time) >> 16)
    }

    // The frame in transmission does not count. Only near the limit has it to be found.
    fn has_room(&mut self, now: Picos, size: u16) -> bool {
        match self.queue {
            QueueLimit::Packets(limit) => {
                (self.inside.len() as u64) <= limit || (self.waiting(now).0 as u64) < limit
            }
            QueueLimit::Bytes(limit) => {
                let size = u64::from(size);
                self.unsent_bytes + size <= limit || self.waiting(now).1 + size <= limit
            }
        }
    }

    /// The packets that have not begun to be sent, and their bytes: all but the first of those that have not been sent yet.
    fn waiting(&mut self, now: Picos) -> (usize, u64) {
        let unsent = |packet: &Packet| packet.arrival > now + self.delay;
        loop {
            match self.inside.get(self.sent as usize) {
                None => return (0, 0),
                Some(first) if unsent(&first) => {
                    let count = self.inside.len() - self.sent as usize - 1;
                    return (count, self.unsent_bytes - u64::from(first.size()));
                }
                Some(packet) => {
                    self.sent += 1;
                    self.unsent_bytes -= u64::from(packet.size());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use braid_link_model::{Delay, Fate, OneWay};
    use braid_types::{BitsPerSec, Time};
    use proptest::prelude::*;

    use super::*;

    fn queue() -> impl Strategy<Value = QueueLimit> {
        prop_oneof![(0..12_u64).prop_map(QueueLimit::Packets), (0..20_000_u64).prop_map(QueueLimit::Bytes)]
    }

    /// What arrives and when, in nanoseconds, and what had no room, of frames with these gaps and sizes.
    fn run(parameters: &Parameters, frames: &[(u64, u16)]) -> (Vec<(u32, u64)>, Vec<u32>) {
        let mut link = Link::new(parameters, 1);
        let (mut arrived, mut refused, mut now) = (Vec::new(), Vec::new(), Picos::ZERO);
        let mut take = |link: &mut Link, until: Picos| {
            while let Some(next) = link.next_arrival().filter(|next| *next <= until) {
                let packet = link.take(next).expect("nothing is lost here");
                arrived.push((packet.seq, next.0 / 1_000));
            }
        };
        for (seq, (gap, size)) in (0..).zip(frames) {
            now += Picos::from_nanos(*gap);
            take(&mut link, now);
            let before = link.counters.overflowed;
            link.offer(now, Packet { seq, ..Packet::new(0, *size, now) });
            refused.extend((link.counters.overflowed > before).then_some(seq));
        }
        take(&mut link, Picos::NEVER);
        (arrived, refused)
    }

    fn model(parameters: &Parameters, frames: &[(u64, u16)]) -> (Vec<(u32, u64)>, Vec<u32>) {
        let mut link = OneWay::new(*parameters, 1);
        let (mut arrived, mut refused, mut now) = (Vec::new(), Vec::new(), Time::ZERO);
        let mut take = |link: &mut OneWay<u32>, until: Time| {
            while let Some(next) = link.next_event().filter(|next| *next <= until) {
                arrived
                    .extend(std::iter::from_fn(|| link.poll_arrival(next)).map(|seq| (seq, next.as_nanos())));
            }
        };
        for (seq, (gap, size)) in (0..).zip(frames) {
            now = now + std::time::Duration::from_nanos(*gap);
            take(&mut link, now);
            if link.offer(now, (*size).into(), || seq) == Fate::Overflowed {
                refused.push(seq);
            }
        }
        take(&mut link, Time::from_nanos(u64::MAX));
        (arrived, refused)
    }

    proptest! {
        /// At rates at which a byte takes whole nanoseconds, so that the model rounds nothing.
        #[test]
        fn link_does_what_the_model_of_links_does(
            nanos_a_byte in prop::sample::select(vec![1_u64, 2, 4, 5, 8, 10, 16, 20, 25, 40, 50, 64, 80, 100]),
            micros in 0..200_u64,
            queue in queue(),
            frames in prop::collection::vec((0..60_000_u64, 60..9_000_u16), 1..80),
        ) {
            let delay = Delay::new(std::time::Duration::from_micros(micros)).unwrap();
            let rate = Some(BitsPerSec(8_000_000_000 / nanos_a_byte));
            let parameters = Parameters { rate, delay, queue, ..Parameters::default() };
            prop_assert_eq!(run(&parameters, &frames), model(&parameters, &frames));
        }
    }

    #[test]
    fn rates_that_are_not_whole_picoseconds_a_byte_are_met() {
        let rate = Some(BitsPerSec(7_000_000_000));
        let mut link =
            Link::new(&Parameters { rate, queue: QueueLimit::Packets(100_000), ..Parameters::default() }, 1);
        (0..100_000).for_each(|_| link.offer(Picos::ZERO, Packet::new(0, 1_514, Picos::ZERO)));
        let seconds = link.free.as_secs_f64();
        assert!((seconds * 7e9 / (1_514.0 * 8e5) - 1.0).abs() < 1e-6, "{seconds}");
    }
}
