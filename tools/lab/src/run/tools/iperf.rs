//! Parsing of iperf3's `--json` output. iperf3 exits with 0 even after errors: these are in the document.

use serde::Deserialize;

use super::super::report::Interval;

/// The receiver's measurements.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::run) struct Measured {
    pub goodput_bps: f64,
    pub seconds: f64,
    /// The share of UDP's datagrams that did not arrive.
    pub datagrams_lost: Option<f64>,
    pub intervals: Vec<Interval>,
}

/// The sender's data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::run) struct Sent {
    /// The local ports of the data connections.
    pub ports: Vec<u16>,
    pub retransmits: u64,
}

#[derive(Deserialize)]
struct Document {
    error: Option<String>,
    #[serde(default)]
    start: Start,
    #[serde(default)]
    intervals: Vec<Slice>,
    #[serde(default)]
    end: End,
}

#[derive(Deserialize, Default)]
struct Start {
    #[serde(default)]
    connected: Vec<Connection>,
}

#[derive(Deserialize)]
struct Connection {
    local_port: u16,
}

#[derive(Deserialize)]
struct Slice {
    sum: Sum,
}

#[derive(Deserialize, Default)]
struct End {
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
}

#[derive(Deserialize)]
struct Sum {
    start: f64,
    end: f64,
    seconds: f64,
    bits_per_second: f64,
    #[serde(default)]
    retransmits: u64,
    /// Of UDP; in what was sent, not a count.
    #[serde(default)]
    packets: u64,
    #[serde(default)]
    lost_packets: i64,
    /// An interval of the warm-up.
    #[serde(default)]
    omitted: bool,
}

/// Parses the document of the client, which sends.
pub(super) fn sent(text: &str) -> Result<Sent, String> {
    let document = parse(text)?;
    let ports = document.start.connected.iter().map(|connection| connection.local_port).collect();
    let retransmits = document.end.sum_sent.map_or(0, |sum| sum.retransmits);
    Ok(Sent { ports, retransmits })
}

/// Parses the document of the server, which receives.
pub(super) fn received(text: &str) -> Result<Measured, String> {
    let document = parse(text)?;
    let sum = document.end.sum_received.ok_or("iperf3 measured nothing")?;
    let sums = || document.intervals.iter().map(|slice| &slice.sum);
    // iperf3 restarts its clock after the warm-up.
    let warm_up = sums().filter(|sum| sum.omitted).map(|sum| sum.end).fold(0.0, f64::max);
    let interval = |sum: &Sum| {
        let shift = if sum.omitted { 0.0 } else { warm_up };
        Interval { start: sum.start + shift, end: sum.end + shift, bps: sum.bits_per_second }
    };
    // The rest of the last interval is too short for a rate.
    let whole = sums().filter(|sum| sum.seconds > 0.25);
    Ok(Measured {
        goodput_bps: sum.bits_per_second,
        seconds: sum.seconds,
        datagrams_lost: (sum.packets > 0).then(|| sum.lost_packets as f64 / sum.packets as f64),
        intervals: whole.map(interval).collect(),
    })
}

fn parse(text: &str) -> Result<Document, String> {
    let document: Document =
        serde_json::from_str(text).map_err(|error| format!("iperf3 was cut off or is too old: {error}"))?;
    match document.error {
        Some(error) => Err(format!("iperf3: {error}")),
        None => Ok(document),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = r#"{
        "start": {"connected": [{"socket": 5, "local_port": 5201, "remote_port": 40000}]},
        "intervals": [
            {"streams": [], "sum": {"start": 0, "end": 0.5, "seconds": 0.5, "bytes": 1, "bits_per_second": 1e8}},
            {"streams": [], "sum": {"start": 0.5, "end": 0.52, "seconds": 0.02, "bytes": 1, "bits_per_second": 9e9}}],
        "end": {"sum_sent": {"start": 0, "end": 0.52, "seconds": 0.52, "bytes": 0, "bits_per_second": 0},
                "sum_received": {"start": 0, "end": 0.52, "seconds": 0.52, "bytes": 1, "bits_per_second": 9.5e7}}}"#;

    #[test]
    fn goodput_is_the_receiver_s_and_the_cut_interval_is_left_out() {
        let measured = received(SERVER).unwrap();
        assert_eq!((measured.goodput_bps, measured.seconds), (9.5e7, 0.52));
        assert_eq!(measured.intervals, [Interval { start: 0.0, end: 0.5, bps: 1e8 }]);
    }

    #[test]
    fn time_goes_on_after_the_warm_up() {
        let slice = |start: f64, omitted: bool| {
            let end = start + 0.5;
            format!(
                r#"{{"sum": {{"start": {start}, "end": {end}, "seconds": 0.5, "bits_per_second": 1, "omitted": {omitted}}}}}"#
            )
        };
        let slices = [slice(0.0, true), slice(0.5, true), slice(0.0, false), slice(0.5, false)].join(",");
        let text = format!(
            r#"{{"intervals": [{slices}], "end": {{"sum_received": {{"start": 0, "end": 1, "seconds": 1, "bits_per_second": 2}}}}}}"#
        );
        let starts: Vec<_> = received(&text).unwrap().intervals.iter().map(|it| it.start).collect();
        assert_eq!(starts, [0.0, 0.5, 1.0, 1.5]);
    }

    #[test]
    fn ports_and_retransmissions_are_the_sender_s() {
        let text = r#"{"start": {"connected": [{"local_port": 40000}, {"local_port": 40002}]},
            "end": {"sum_sent": {"start": 0, "end": 1, "seconds": 1, "bits_per_second": 1, "retransmits": 3}}}"#;
        assert_eq!(sent(text), Ok(Sent { ports: vec![40000, 40002], retransmits: 3 }));
    }

    #[test]
    fn lost_datagrams_are_the_receiver_s() {
        let sum = |more: &str| {
            format!(r#""sum_received": {{"start": 0, "end": 1, "seconds": 1, "bits_per_second": 1{more}}}"#)
        };
        let lost = |more| received(&format!(r#"{{"end": {{{}}}}}"#, sum(more))).unwrap().datagrams_lost;
        assert_eq!(lost(r#", "packets": 200, "lost_packets": 3"#), Some(0.015));
        assert_eq!(lost(""), None);
    }

    #[test]
    fn an_error_in_the_document_is_one_and_so_is_half_a_document() {
        let refused = r#"{"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}"#;
        assert_eq!(sent(refused), Err("iperf3: unable to connect".to_owned()));
        assert_eq!(received(r#"{"end": {}}"#), Err("iperf3 measured nothing".to_owned()));
        for cut in [0, 1, SERVER.len() / 2, SERVER.len() - 1] {
            assert!(received(&SERVER[..cut]).is_err(), "{cut}");
        }
    }
}
