//! The inputs of the formulas: one subflow's window and round-trip time, and sums over its connection.

use std::iter;
use std::time::Duration;

/// The state of a subflow that the formulas use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subflow {
    /// The congestion window, in segments; zero counts as one.
    pub cwnd: u32,
    /// The smoothed round-trip time. A subflow with none yet takes no part in the coupling.
    pub srtt: Duration,
    /// Segments delivered between the last two losses, or since the last one, whichever is more. OLIA alone uses it.
    pub run: u32,
}

impl Subflow {
    pub(crate) fn is_measured(&self) -> bool {
        !self.srtt.is_zero()
    }

    pub(crate) fn window(&self) -> f64 {
        f64::from(self.cwnd.max(1))
    }

    /// Its rate in segments per second.
    pub(crate) fn rate(&self) -> f64 {
        self.window() / self.srtt.as_secs_f64()
    }
}

/// A subflow among those of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// The subflow whose window changes.
    pub own: Subflow,
    /// The connection's other subflows, in any order.
    pub others: &'a [Subflow],
}

impl Connection<'_> {
    /// All subflows with a round-trip time; the own one comes first.
    pub(crate) fn measured(&self) -> impl Iterator<Item = Subflow> {
        iter::once(self.own).chain(self.others.iter().copied()).filter(Subflow::is_measured)
    }

    pub(crate) fn total_rate(&self) -> f64 {
        self.measured().map(|it| it.rate()).sum()
    }

    pub(crate) fn greatest_rate(&self) -> f64 {
        self.measured().map(|it| it.rate()).fold(0.0, f64::max)
    }
}
