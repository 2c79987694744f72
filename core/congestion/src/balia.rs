//! BALIA, balanced linked adaptation. draft-walid-mptcp-congestion-control.

use crate::Connection;

/// Draft §3.1: x/rtt / (Σ x)² · (1 + alpha)/2 · (4 + alpha)/5, with x = w/rtt and alpha = max(x)/x.
pub(crate) fn increase(connection: Connection<'_>) -> f64 {
    let (own, alpha) = (connection.own, alpha(connection));
    let linked = own.rate() / own.srtt.as_secs_f64() / connection.total_rate().powi(2);
    linked * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0
}

/// Draft §3.2: w − w/2 · min(alpha, 1.5).
pub(crate) fn after_loss(connection: Connection<'_>) -> f64 {
    let window = connection.own.window();
    window - window / 2.0 * alpha(connection).min(1.5)
}

fn alpha(connection: Connection<'_>) -> f64 {
    connection.greatest_rate() / connection.own.rate()
}
