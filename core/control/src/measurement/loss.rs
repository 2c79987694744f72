//! Packet loss of a link, from the counters at both ends.

use std::time::Duration;

use braid_types::Time;

use super::counts::Direction;

/// The fewest packets for a meaningful loss ratio.
pub(super) const MIN_PACKETS: f64 = 100.0;
/// The shortest period: in less, the skew between the two switches' counter reads weighs too much.
const MIN_LOSS_WINDOW: Duration = Duration::from_millis(1_500);

/// The packet loss of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LossReading {
    /// From 0 to 1.
    pub(crate) ratio: f64,
    /// The end of the measured period.
    pub(crate) at: Time,
}

/// The timing of one end's counters relative to the other's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// The travel time of packets.
    pub(super) delay: Duration,
    /// The error in the assumed time of a counter read.
    pub(super) slack: Duration,
}

/// Compares packets sent into a link with those received from it, over the last `window` known of both.
///
/// Switches are read at different times, so counts are interpolated to the same time. When the rate changes,
/// an error in time becomes an error in packets; that many are not counted as lost. `None` if too few packets
/// were sent.
pub(super) fn loss(
    sent: Direction<'_>,
    received: Direction<'_>,
    lag: Lag,
    window: Duration,
) -> Option<LossReading> {
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

/// The variation of the rate around the ends of a period, in packets a second.
fn variation(sent: Direction<'_>, ends: [Time; 2], slack: Duration) -> f64 {
    let rates =
        ends.into_iter().flat_map(|end| [end - slack, end, end + slack]).filter_map(|at| sent.rate_at(at));
    let (least, most) =
        rates.fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    (most - least).max(0.0)
}
