//! What a link can carry, measured: frames that leave a switch together come in as far apart as the link sends them.
//!
//! Source: M. Jain, C. Dovrolis, Pathload: a measurement tool for end-to-end available bandwidth, 2002, for trains; the first half of
//! each is left out, as the bucket of a shaper may let it pass at once. Other traffic on the link lies between the
//! frames and makes it seem slower.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::lldp::LldpProbe;
use braid_types::{BitsPerSec, SwitchPort, Time};

use crate::command::Target;
use crate::context::Context;
use crate::notice::Notice;

const TRAIN_COUNT: usize = 5;
const TRAIN_FRAMES: u64 = 192;
/// Bytes of a frame without its check sequence, which no switch counts.
const FRAME_BYTES: usize = 1_500;
/// Of fewer frames in the second half of a train nothing is concluded.
const MIN_TRAIN_FRAMES: usize = 16;
/// A train has arrived when nothing of it has come for so long.
const TRAIN_END_TIMEOUT: Duration = Duration::from_millis(300);
/// A link on which nothing has come after so long is too slow, or gone.
const TRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Below this, what it takes to read messages is a good part of the time.
const MIN_TRAIN_TIME: Duration = Duration::from_micros(500);
/// Links that are measured at one time.
const MAX_MEASUREMENTS: usize = 16;

/// What was measured on demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CapacityReading {
    pub(crate) capacity: BitsPerSec,
    pub(crate) at: Time,
}

/// The measurements that go on, by the port that the link leaves.
#[derive(Debug, Default)]
pub(super) struct Trains(BTreeMap<SwitchPort, Sampling>);

#[derive(Debug, Default)]
struct Sampling {
    /// When the last train left; its frames are a nanosecond apart by their stamps.
    sent_at: Time,
    arrivals: Vec<Time>,
    left: usize,
    rates: Vec<BitsPerSec>,
}

impl Trains {
    /// Whether a discovery frame is one of a train, which says nothing of delay.
    pub(super) fn note(&mut self, now: Time, src: SwitchPort, sent_at: Time) -> bool {
        let Some(measurement) = self.0.get_mut(&src) else { return false };
        let since = sent_at.as_nanos().checked_sub(measurement.sent_at.as_nanos());
        let is_part = since.is_some_and(|place| place < TRAIN_FRAMES);
        if is_part {
            measurement.arrivals.push(now);
        }
        is_part
    }
}

impl Sampling {
    fn has_arrived(&self, now: Time) -> bool {
        match self.arrivals.last() {
            Some(last) => self.arrivals.len() as u64 >= TRAIN_FRAMES || now.since(*last) >= TRAIN_END_TIMEOUT,
            None => now.since(self.sent_at) >= TRAIN_TIMEOUT,
        }
    }

    /// The middle of what the trains say.
    fn median(&mut self) -> Option<BitsPerSec> {
        self.rates.sort_unstable();
        self.rates.get(self.rates.len() / 2).copied()
    }
}

/// At which rate the second half of a train came in.
fn rate(arrivals: &[Time]) -> Option<BitsPerSec> {
    let half = arrivals.get(arrivals.len() / 2..)?;
    let (first, last) = (half.first()?, half.last()?);
    let taken = last.since(*first);
    if half.len() < MIN_TRAIN_FRAMES || taken < MIN_TRAIN_TIME {
        return None;
    }
    // Those that were read together with the first had come before it.
    let after = half.iter().filter(|at| *at > first).count();
    Some(BitsPerSec(((after * FRAME_BYTES * 8) as f64 / taken.as_secs_f64()) as u64))
}

impl super::Measurement {
    /// Sends trains through the link that leaves `src`, if there is one and few others are being measured.
    pub(crate) fn measure_capacity(&mut self, cx: &mut Context<'_>, src: SwitchPort) {
        let trains = &mut self.trains.0;
        let may = trains.len() < MAX_MEASUREMENTS && !trains.contains_key(&src);
        if may && cx.topology.link_at(src).is_some() {
            trains.insert(src, Sampling { left: TRAIN_COUNT, ..Sampling::default() });
            self.send_train(cx, src);
        }
    }

    /// Goes on with what is being measured; called once a tick.
    pub(super) fn tick_trains(&mut self, cx: &mut Context<'_>) {
        let due = self.trains.0.iter().filter(|(_, it)| it.has_arrived(cx.now));
        for src in due.map(|(src, _)| *src).collect::<Vec<_>>() {
            self.end_train(cx, src);
        }
    }

    fn end_train(&mut self, cx: &mut Context<'_>, src: SwitchPort) {
        let Some(measurement) = self.trains.0.get_mut(&src) else { return };
        measurement.rates.extend(rate(&measurement.arrivals));
        if measurement.left > 0 {
            return self.send_train(cx, src);
        }
        let capacity = measurement.median();
        self.trains.0.remove(&src);
        cx.out.notice(Notice::CapacityMeasured { link: src, capacity });
        let Some(link) = cx.topology.link_at(src) else { return };
        let reading = capacity.map(|capacity| CapacityReading { capacity, at: cx.now });
        let meter = self.links.entry(link).or_default();
        (meter.capacity, meter.capacity_asked_at) = (reading.or(meter.capacity), Some(cx.now));
    }

    fn send_train(&mut self, cx: &mut Context<'_>, src: SwitchPort) {
        let Some(measurement) = self.trains.0.get_mut(&src) else { return };
        let Some(port) = cx.topology.port(src) else { return };
        measurement.left -= 1;
        measurement.sent_at = cx.now;
        measurement.arrivals.clear();
        for place in 0..TRAIN_FRAMES {
            let sent_at = cx.now + Duration::from_nanos(place);
            let probe = LldpProbe { dpid: src.dpid, port: src.port, sent_at };
            let mut frame = probe.encode(&cx.settings.lldp_key, port.mac);
            frame.resize(FRAME_BYTES, 0);
            cx.out.send(src.dpid, Target::Port(src.port), &frame);
        }
    }
}
