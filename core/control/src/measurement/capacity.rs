//! Link capacity, measured by packet trains: the link spaces out frames that leave a switch together.
//!
//! Source: M. Jain, C. Dovrolis, Pathload: a measurement tool for end-to-end available bandwidth, 2002, for
//! trains. The first half of each train is ignored, since a shaper's token bucket may pass it at once. Cross
//! traffic between the frames lowers the result.

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
/// The fewest frames in the second half of a train that give a result.
const MIN_TRAIN_FRAMES: usize = 16;
/// A train has ended when no frame of it has arrived for this long.
const TRAIN_END_TIMEOUT: Duration = Duration::from_millis(300);
/// A train has failed if nothing has arrived after this long: the link is too slow or down.
const TRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// In a shorter time, reading the messages takes too large a part.
const MIN_TRAIN_TIME: Duration = Duration::from_micros(500);
/// Links measured at one time.
const MAX_MEASUREMENTS: usize = 16;

/// A capacity measured on request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CapacityReading {
    pub(crate) capacity: BitsPerSec,
    pub(crate) at: Time,
}

/// The measurements in progress, by the link's sending port.
#[derive(Debug, Default)]
pub(super) struct Trains(BTreeMap<SwitchPort, Sampling>);

#[derive(Debug, Default)]
struct Sampling {
    /// When the last train was sent. The timestamps of its frames are a nanosecond apart.
    sent_at: Time,
    arrivals: Vec<Time>,
    left: usize,
    rates: Vec<BitsPerSec>,
}

impl Trains {
    /// Whether a discovery frame belongs to a train, so that it does not measure delay.
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

    /// The median rate of the trains.
    fn median(&mut self) -> Option<BitsPerSec> {
        self.rates.sort_unstable();
        self.rates.get(self.rates.len() / 2).copied()
    }
}

/// The rate at which the second half of a train arrived.
fn rate(arrivals: &[Time]) -> Option<BitsPerSec> {
    let half = arrivals.get(arrivals.len() / 2..)?;
    let (first, last) = (half.first()?, half.last()?);
    let taken = last.since(*first);
    if half.len() < MIN_TRAIN_FRAMES || taken < MIN_TRAIN_TIME {
        return None;
    }
    // Frames read together with the first one had arrived before it.
    let after = half.iter().filter(|at| *at > first).count();
    Some(BitsPerSec(((after * FRAME_BYTES * 8) as f64 / taken.as_secs_f64()) as u64))
}

impl super::Measurement {
    /// Starts sending trains through the link that leaves `src`, if it exists and few others are measured.
    pub(crate) fn measure_capacity(&mut self, cx: &mut Context<'_>, src: SwitchPort) {
        let trains = &mut self.trains.0;
        let may = trains.len() < MAX_MEASUREMENTS && !trains.contains_key(&src);
        if may && cx.topology.link_at(src).is_some() {
            trains.insert(src, Sampling { left: TRAIN_COUNT, ..Sampling::default() });
            self.send_train(cx, src);
        }
    }

    /// Continues the measurements. Called once a tick.
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
