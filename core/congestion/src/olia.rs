//! OLIA, opportunistic linked increases. draft-khalili-mptcp-congestion-control.

use crate::{Connection, Subflow};

/// Draft §3: (w/rtt²) / (Σ w/rtt)² + alpha/w.
pub(crate) fn increase(connection: Connection<'_>) -> f64 {
    let own = connection.own;
    own.rate() / own.srtt.as_secs_f64() / connection.total_rate().powi(2) + alpha(connection) / own.window()
}

/// Moves window from the subflows that have most of it to the best of those that have less; the sum over all is zero.
fn alpha(connection: Connection<'_>) -> f64 {
    let most = connection.measured().map(|it| it.window()).fold(0.0, f64::max);
    let best = connection.measured().map(|it| quality(&it)).fold(0.0, f64::max);
    let is_collected = |it: &Subflow| quality(it) == best && it.window() < most;
    let count = |which: &dyn Fn(&Subflow) -> bool| connection.measured().filter(which).count() as f64;
    let subflows = count(&|_| true);
    let collected = count(&is_collected);
    if collected == 0.0 {
        0.0
    } else if is_collected(&connection.own) {
        1.0 / (subflows * collected)
    } else if connection.own.window() == most {
        -1.0 / (subflows * count(&|it| it.window() == most))
    } else {
        0.0
    }
}

/// The squared estimate of TCP's rate on this path.
fn quality(subflow: &Subflow) -> f64 {
    f64::from(subflow.run).powi(2) / subflow.srtt.as_secs_f64()
}
