//! LIA, the linked increases algorithm. RFC 6356.

use crate::Connection;

/// RFC 6356 §3: alpha / `cwnd_total`, with alpha = `cwnd_total` · max(w/rtt²) / (Σ w/rtt)².
pub(crate) fn increase(connection: Connection<'_>) -> f64 {
    let best = connection.measured().map(|it| it.rate() / it.srtt.as_secs_f64()).fold(0.0, f64::max);
    best / connection.total_rate().powi(2)
}
