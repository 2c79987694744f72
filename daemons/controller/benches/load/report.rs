//! The report of the measurements.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::process::Process;
use braid_load::Outcome;

/// A rate, what was lost, and how busy the other end was.
pub(crate) fn rate(what: &str, outcome: &Outcome, rules: u64, busy: Duration) {
    let per_second = outcome.packets as f64 / outcome.took.as_secs_f64();
    let lost = outcome.sent - outcome.packets;
    let missing = (outcome.sent * rules).saturating_sub(outcome.rules);
    println!(
        "  {what:30} {per_second:10.0} a second of {}; lost {lost} packets, {missing} rules; {:.2} of a core, {:.2} µs each",
        outcome.sent,
        busy.as_secs_f64() / outcome.took.as_secs_f64(),
        busy.as_nanos() as f64 / 1e3 / outcome.packets as f64,
    );
}

pub(crate) fn ratio(outcome: &Outcome, base: &Outcome) {
    let rate = |it: &Outcome| it.packets as f64 / it.took.as_secs_f64();
    println!("  {:30} {:10.2} x", "against that responder", rate(outcome) / rate(base));
}

pub(crate) fn memory(before: u64, after: u64) {
    let mega = |bytes: u64| bytes as f64 / 1e6;
    println!("  {:30} {:10.1} MB before, {:.1} MB after", "memory", mega(before), mega(after));
}

pub(crate) fn latency(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_nanos() as f64 / 1e3;
    println!("  {what:30} p50 {:.1} µs, p99 {:.1} µs of {}, one under way", at(50), at(99), times.len());
}

/// How two sets of latencies compare, at the middle and at the slow end.
pub(crate) fn quotient(what: &str, mut these: Vec<Duration>, mut those: Vec<Duration>) {
    let mut at = |percent: usize| {
        let of = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            times[(times.len() - 1) * percent / 100].as_secs_f64()
        };
        of(&mut these) / of(&mut those)
    };
    println!("  {what:30} p50 {:.3} x, p99 {:.3} x", at(50), at(99));
}

/// What TLS costs against plain TCP: of the rate, and at the median.
pub(crate) fn cost([plain, tls]: [f64; 2], mut without: Vec<Duration>, mut with: Vec<Duration>) {
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_nanos() as f64 / 1e3
    };
    let share = 100.0 * (1.0 - tls / plain);
    let more = median(&mut with) - median(&mut without);
    println!("TLS: {share:.1} % fewer new connections a second, {more:.1} µs more at the median");
}

/// How many of something the controller knows.
pub(crate) fn count(controller: &Process, what: &str) -> usize {
    list(controller, what).len()
}

/// What the controller knows of something, page after page.
pub(crate) fn list(controller: &Process, what: &str) -> Vec<serde_json::Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let mut page = get(controller, &format!("/api/v1/{what}?limit=10000{cursor}"));
        all.extend(page[what].as_array_mut().map(std::mem::take).unwrap_or_default());
        let Some(next) = page["next_cursor"].as_str() else { return all };
        cursor = format!("&cursor={next}");
    }
}

/// The controller's metrics without labels, by name; `None` if nobody answers.
pub(crate) fn totals(http: SocketAddr) -> Option<BTreeMap<String, u64>> {
    let answer = ask(http, "/metrics?totals=true").ok()?;
    let values = answer.lines().filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse::<f64>().ok()? as u64))
    });
    Some(values.collect())
}

fn get(controller: &Process, path: &str) -> serde_json::Value {
    let answer = ask(controller.http, path).expect("an answer");
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).expect("a body");
    serde_json::from_str(body).expect("JSON")
}

fn ask(http: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(http)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
