//! The formulas in integers, operation by operation as in `daemons/host/bpf/formulas.h`, since BPF has no floating point.
//! Change both together; a test of `braid-host` compares them in the kernel.
//!
//! Increases are in units of 2⁻³² segments for each segment acknowledged. No input overflows: windows are held below
//! 2²⁰ segments and round-trip times between 1 µs and 2²⁶ µs, and clamped beyond.

use crate::{Algorithm, Connection, Subflow};

/// One segment, in the units of increases.
pub const SEGMENT: i64 = 1 << 32;

const MAX_WINDOW: u64 = (1 << 20) - 1;
const MAX_MICROS: u64 = (1 << 26) - 1;
const MAX_RUN: u64 = (1 << 22) - 1;
/// Windows over a round trip and BALIA's alpha have 14 bits after the point.
const ONE: u64 = 1 << 14;
/// The largest window of one subflow over a round trip of another: 2²⁶ segments.
const MAX_SHARE: u64 = ONE << 26;
/// The largest alpha: a subflow counts as at most 1,024 times slower than the fastest.
const MAX_ALPHA: u64 = ONE << 10;

/// As [`Algorithm::increase`], in units of 1/[`SEGMENT`].
#[must_use]
pub fn increase(algorithm: Algorithm, connection: Connection<'_>) -> i64 {
    let own = connection.own;
    let alone = SEGMENT / window(&own) as i64;
    if !own.is_measured() {
        return alone;
    }
    match algorithm {
        Algorithm::Uncoupled => alone,
        Algorithm::Lia => lia(connection).min(alone),
        Algorithm::Olia => linked(connection, &own) + olia_shift(connection),
        Algorithm::Balia => balia(connection),
    }
}

/// As [`Algorithm::after_loss`], in whole segments and never below two: the slow start threshold.
#[must_use]
pub fn after_loss(algorithm: Algorithm, connection: Connection<'_>) -> u32 {
    let window = window(&connection.own);
    let lost = match algorithm {
        Algorithm::Balia if connection.own.is_measured() => {
            (window * alpha(connection).min(ONE * 3 / 2)) >> 15
        }
        // An odd window loses the greater half, as TCP's does.
        _ => window.div_ceil(2),
    };
    u32::try_from((window - lost).max(2)).unwrap_or(u32::MAX)
}

/// Adds the increase of `acked` segments to the remainder of earlier ones.
///
/// Returns the change of the window in whole segments, and the new remainder, from 0 up to [`SEGMENT`].
#[must_use]
pub fn grow(left_over: u32, increase: i64, acked: u32) -> (i64, u32) {
    let sum = i64::from(left_over) + increase * i64::from(acked.min(MAX_WINDOW as u32));
    (sum >> 32, sum as u32)
}

fn window(subflow: &Subflow) -> u64 {
    u64::from(subflow.cwnd).clamp(1, MAX_WINDOW)
}

fn micros(subflow: &Subflow) -> u64 {
    let micros = u64::try_from(subflow.srtt.as_micros()).unwrap_or(u64::MAX);
    micros.clamp(1, MAX_MICROS)
}

/// The segments that `of` has in flight during a round trip of `during`, in units of 1/[`ONE`] segments.
fn share(of: &Subflow, during: &Subflow) -> u64 {
    ((window(of) * ONE) * micros(during) / micros(of)).min(MAX_SHARE)
}

/// W, in units of 1/[`ONE`] segments.
fn total(connection: Connection<'_>, subflow: &Subflow) -> u64 {
    connection.measured().map(|it| share(&it, subflow)).sum()
}

/// w/W, with 28 bits after the point.
fn fraction(subflow: &Subflow, total: u64) -> u64 {
    (window(subflow) << 42) / total
}

/// w/W² of `subflow`.
fn linked(connection: Connection<'_>, subflow: &Subflow) -> i64 {
    let total = total(connection, subflow);
    ((fraction(subflow, total) << 18) / total) as i64
}

fn lia(connection: Connection<'_>) -> i64 {
    connection.measured().map(|it| linked(connection, &it)).max().unwrap_or(0)
}

fn balia(connection: Connection<'_>) -> i64 {
    let (own, alpha) = (connection.own, alpha(connection));
    let total = total(connection, &own);
    let factor = (ONE + alpha) * (4 * ONE + alpha) / (10 * ONE);
    // At most 2⁵⁹ before the shift: a subflow that is far behind has a small fraction.
    (((fraction(&own, total) * factor) << 4) / total) as i64
}

fn alpha(connection: Connection<'_>) -> u64 {
    let own = connection.own;
    let greatest = connection.measured().map(|it| share(&it, &own)).max().unwrap_or(0);
    (greatest / window(&own)).min(MAX_ALPHA)
}

fn olia_shift(connection: Connection<'_>) -> i64 {
    let own = connection.own;
    let most = connection.measured().map(|it| window(&it)).max().unwrap_or(0);
    let best = connection.measured().map(|it| quality(&it)).max().unwrap_or(0);
    let is_collected = |it: &Subflow| quality(it) == best && window(it) < most;
    let subflows = connection.measured().count() as i64;
    let collected = connection.measured().filter(is_collected).count() as i64;
    if collected == 0 {
        0
    } else if is_collected(&own) {
        SEGMENT / (subflows * collected * window(&own) as i64)
    } else if window(&own) == most {
        let with_most = connection.measured().filter(|it| window(it) == most).count() as i64;
        -(SEGMENT / (subflows * with_most * window(&own) as i64))
    } else {
        0
    }
}

fn quality(subflow: &Subflow) -> u64 {
    let run = u64::from(subflow.run).min(MAX_RUN);
    ((run * run) << 19) / micros(subflow)
}
