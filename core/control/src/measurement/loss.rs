//! How many of the packets that left one port did not come in at the other.

use std::time::Duration;

use braid_types::Time;

use super::counts::History;

/// Of fewer packets, the share that is lost says little.
const MIN_PACKETS: f64 = 100.0;
/// Over a shorter time, what the two switches counted at different moments weighs too much.
const MIN_LOSS_WINDOW: Duration = Duration::from_millis(1_500);

/// The share of packets that a link loses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LossReading {
    /// From 0 to 1.
    pub(crate) ratio: f64,
    /// The end of the time over which it was counted.
    pub(crate) at: Time,
}

/// How what one end counts lies in time to what the other does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// How long packets are on their way.
    pub(super) delay: Duration,
    /// How far off the time may be at which a switch is believed to have read its counters.
    pub(super) slack: Duration,
}

/// Compares the packets sent into a link with those received from it, over the last `window` of which both are known.
///
/// Switches are read at different times, so what each had counted at the same time is interpolated. While the rate
/// changes, an error in time is one in packets: as many are not called lost. `None` if too few packets were sent to
/// tell.
pub(super) fn loss(sent: &History, received: &History, lag: Lag, window: Duration) -> Option<LossReading> {
    let ((first_sent, last_sent), (first_received, last_received)) = (sent.span()?, received.span()?);
    let end = last_sent.at.min(last_received.at - lag.delay);
    let start = (end - window).max(first_sent.at).max(first_received.at - lag.delay);
    if end.since(start) < MIN_LOSS_WINDOW {
        return None;
    }
    let packets = sent.since_first(end)? - sent.since_first(start)?;
    let arrived = received.since_first(end + lag.delay)? - received.since_first(start + lag.delay)?;
    let doubtful = lag.slack.as_secs_f64() * variation(sent, [start, end], lag.slack);
    let ratio = (packets - arrived - doubtful) / packets;
    (packets >= MIN_PACKETS).then(|| LossReading { ratio: ratio.clamp(0.0, 1.0), at: end })
}

/// How much the rate differs about the ends of a time, in packets a second.
fn variation(sent: &History, ends: [Time; 2], slack: Duration) -> f64 {
    let rates =
        ends.into_iter().flat_map(|end| [end - slack, end, end + slack]).filter_map(|at| sent.rate_at(at));
    let (least, most) =
        rates.fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    (most - least).max(0.0)
}
