//! `tc` lines that shape one direction of a link.

use braid_link_model::{Parameters, Probability, QueueLimit};

use super::LinkBackend;

/// A full frame, for queues that count packets where the kernel counts bytes.
const FRAME: u64 = 1_514;

/// For `tc -batch`: what makes the sending end `device` of a link like `way`; nothing for links in user space.
pub(super) fn lines(device: &str, way: &Parameters, backend: LinkBackend) -> String {
    match backend {
        LinkBackend::Tbf => format!("qdisc replace dev {device} root {}\n", bucket(way)),
        LinkBackend::Netem => format!(
            "qdisc replace dev {device} root handle 1: {}\nqdisc replace dev {device} parent 1:1 handle 10: {}\n",
            netem(way),
            bucket(way)
        ),
        LinkBackend::UserSpace => String::new(),
    }
}

// Measured with Multipath TCP over two links of 100 Mbit/s, on two cores that two other processes keep busy: a
// burst of 5 ms carries 148 to 167 Mbit/s, 10 ms 187, 20 ms 188, which is all that the headers leave. So long may
// the thread of the switches wait for its turn. Over seconds the burst itself adds next to nothing.
fn bucket(way: &Parameters) -> String {
    let rate = way.rate.unwrap_or_default().0;
    let burst = (rate / 8_000).saturating_mul(20).max(16_000);
    let queue = match way.queue {
        QueueLimit::Bytes(bytes) => bytes,
        QueueLimit::Packets(packets) => packets.saturating_mul(FRAME),
    };
    format!("tbf rate {rate}bit burst {burst} limit {queue}")
}

// Its own queue holds what is on the way; the bucket behind it drops what is too much.
fn netem(way: &Parameters) -> String {
    let mut text = format!("netem limit 100000 delay {}us", way.delay.duration().as_micros());
    if way.loss > Probability::ZERO {
        text += &loss(way);
    }
    if way.reorder > Probability::ZERO {
        text += &format!(" reorder {}", way.reorder);
    }
    text
}

// Gilbert's two chances, in netem's words: from good to bad, and back.
fn loss(way: &Parameters) -> String {
    if way.loss_burst <= 1.0 {
        return format!(" loss random {}", way.loss);
    }
    let recovers = 1.0 / way.loss_burst;
    let share = way.loss.share();
    let turns = (recovers * share / (1.0 - share)).min(1.0);
    format!(" loss gemodel {:.6}% {:.6}%", turns * 100.0, recovers * 100.0)
}
