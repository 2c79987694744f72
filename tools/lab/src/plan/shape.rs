//! `tc` lines that shape one direction of a link.

use braid_link_model::{Parameters, Probability, QueueLimit};

use super::LinkBackend;

/// The bytes of a full frame, for the conversion of queues in packets to bytes.
const FULL_FRAME: u64 = 1_514;

/// For `tc -batch`: the shaper at the sending end `device` of `direction`; empty for links in user space.
pub(super) fn lines(device: &str, direction: &Parameters, backend: LinkBackend) -> String {
    match backend {
        LinkBackend::Tbf => format!("qdisc replace dev {device} root {}\n", bucket(direction)),
        LinkBackend::Netem => format!(
            "qdisc replace dev {device} root handle 1: {}\nqdisc replace dev {device} parent 1:1 handle 10: {}\n",
            netem(direction),
            bucket(direction)
        ),
        LinkBackend::UserSpace => String::new(),
    }
}

// Measured with Multipath TCP over two links of 100 Mbit/s, on two cores that two other processes keep busy: a
// burst of 5 ms carries 148 to 167 Mbit/s, 10 ms 187, 20 ms 188, which is all that the headers leave. So long may
// the thread of the switches wait for its turn. Over seconds the burst itself adds next to nothing.
fn bucket(direction: &Parameters) -> String {
    let rate = direction.rate.unwrap_or_default().0;
    let burst = (rate / 8_000).saturating_mul(20).max(16_000);
    let queue = match direction.queue {
        QueueLimit::Bytes(bytes) => bytes,
        QueueLimit::Packets(packets) => packets.saturating_mul(FULL_FRAME),
    };
    format!("tbf rate {rate}bit burst {burst} limit {queue}")
}

// netem's queue holds frames in flight; the bucket behind it drops the excess.
fn netem(direction: &Parameters) -> String {
    let mut text = format!("netem limit 100000 delay {}us", direction.delay.duration().as_micros());
    if direction.loss > Probability::ZERO {
        text += &loss(direction);
    }
    if direction.reorder > Probability::ZERO {
        text += &format!(" reorder {}", direction.reorder);
    }
    text
}

// The Gilbert model in netem's syntax: the probabilities from good to bad and from bad to good.
fn loss(direction: &Parameters) -> String {
    if direction.loss_burst <= 1.0 {
        return format!(" loss random {}", direction.loss);
    }
    let recovers = 1.0 / direction.loss_burst;
    let share = direction.loss.share();
    let turns = (recovers * share / (1.0 - share)).min(1.0);
    format!(" loss gemodel {:.6}% {:.6}%", turns * 100.0, recovers * 100.0)
}
