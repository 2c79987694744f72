//! Subflows as tests need them.

use std::time::Duration;

use braid_congestion::{Connection, Subflow};
use proptest::prelude::*;

pub(crate) fn subflow(cwnd: u32, millis: u64, run: u32) -> Subflow {
    Subflow { cwnd, srtt: Duration::from_millis(millis), run }
}

/// Calls `action` with the connection as subflow number `own` sees it.
pub(crate) fn view<T>(subflows: &[Subflow], own: usize, action: impl FnOnce(Connection<'_>) -> T) -> T {
    let mut others = subflows.to_vec();
    let own = others.remove(own);
    action(Connection { own, others: &others })
}

/// One to eight subflows, as networks have them.
pub(crate) fn connections() -> impl Strategy<Value = Vec<Subflow>> {
    let one = (1..50_000u32, 50..2_000_000u64, 0..1_000_000u32);
    let one = one.prop_map(|(cwnd, micros, run)| Subflow { cwnd, srtt: Duration::from_micros(micros), run });
    prop::collection::vec(one, 1..=8)
}
