//! CUBIC in the form of RFC 9438, without HyStart.

use crate::engine::Picos;

/// RFC 9438 §4.6: the share of the window that a loss leaves.
const BETA: f64 = 0.7;
/// RFC 9438 §4.1, in segments a second cubed.
const C: f64 = 0.4;

/// CUBIC: the window grows as a cubic function of the time since the last loss. RFC 9438.
///
/// Slow start is TCP's, without HyStart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cubic {
    greatest: f64,
    epoch: Option<Epoch>,
    left_over: f64,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Picos,
    /// Seconds until the window is as great as it was before the loss.
    k: f64,
    origin: f64,
    /// What Reno would have.
    friendly: f64,
}

impl Cubic {
    /// By how many segments the window grows when `arrived` have been acknowledged.
    pub(super) fn grow(&mut self, now: Picos, cwnd: u32, srtt: Picos, arrived: u32) -> i32 {
        let window = f64::from(cwnd.max(1));
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, window, self.greatest));
        let time = (now - epoch.start).as_secs_f64();
        epoch.friendly += f64::from(arrived) / window * 3.0 * (1.0 - BETA) / (1.0 + BETA);
        let target = epoch.window(time + srtt.as_secs_f64()).clamp(window, 1.5 * window);
        if epoch.window(time) < epoch.friendly {
            self.left_over = self.left_over.max(epoch.friendly - window);
        } else {
            self.left_over += f64::from(arrived) * (target - window) / window;
        }
        let whole = self.left_over.floor();
        self.left_over -= whole;
        whole as i32
    }

    /// The slow start threshold after a loss.
    pub(super) fn shrink(&mut self, cwnd: u32) -> u32 {
        let window = f64::from(cwnd);
        // RFC 9438 §4.7: a flow that lost again before it had its share back leaves room for others.
        self.greatest = if window < self.greatest { window * (1.0 + BETA) / 2.0 } else { window };
        self.epoch = None;
        self.left_over = 0.0;
        (window * BETA) as u32
    }
}

impl Epoch {
    fn new(start: Picos, window: f64, greatest: f64) -> Self {
        let origin = greatest.max(window);
        Self { start, k: ((origin - window) / C).cbrt(), origin, friendly: window }
    }

    fn window(&self, seconds: f64) -> f64 {
        C * (seconds - self.k).powi(3) + self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9438 §5.1: the mean window is (C (3 + β) / (4 (1 - β)))^(1/4) · RTT^(3/4) / p^(3/4).
    #[test]
    fn mean_window_is_that_of_the_cubic_function() {
        let (rtt, loss) = (Picos::from_millis(400), 1.0 / 40_000.0);
        let (mut cubic, mut cwnd, mut now) = (Cubic::default(), 1_000_u32, Picos::ZERO);
        let (mut sent, mut sum, mut rounds) = (0.0, 0.0, 0.0);
        while rounds < 20_000.0 {
            sent += f64::from(cwnd);
            if sent * loss >= 1.0 {
                sent = 0.0;
                cwnd = cubic.shrink(cwnd).max(2);
            } else {
                cwnd = cwnd.saturating_add_signed(cubic.grow(now, cwnd, rtt, cwnd));
            }
            now += rtt;
            rounds += 1.0;
            sum += f64::from(cwnd);
        }
        let theory = (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25) * (0.4 / loss).powf(0.75);
        let mean = sum / rounds;
        assert!((0.9..1.1).contains(&(mean / theory)), "{mean} against {theory}");
    }
}
