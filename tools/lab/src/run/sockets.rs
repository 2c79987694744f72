//! TCP sockets and MPTCP subflows, parsed from repeated output of `ss`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use braid_types::FiveTuple;

use super::paths::Paths;
use super::report::{Interval, StreamRow};
use crate::plan::Plan;

/// The client's TCP sockets, MPTCP subflows included, as sampled by `ss`.
#[derive(Default)]
pub(super) struct Sockets {
    sockets: BTreeMap<FiveTuple, Socket>,
    /// Seconds from the start to the last sample.
    last: f64,
}

#[derive(Clone, PartialEq, Debug)]
struct Socket {
    /// The client's token of the MPTCP connection.
    token: Option<u32>,
    /// Samples: seconds since the start, and acknowledged bytes.
    acked: Vec<(f64, u64)>,
}

/// One sample of a socket.
struct Look {
    token: Option<u32>,
    bytes_acked: u64,
}

impl Sockets {
    /// Adds the output of `ss -Htnie` at this time after the start.
    pub(super) fn add(&mut self, at: f64, listing: &str) {
        for entry in entries(listing) {
            if let Some((tuple, look)) = parse(&entry) {
                let socket = self.sockets.entry(tuple).or_insert_with(|| Socket::opened(self.last));
                socket.token = look.token;
                socket.acked.push((at, look.bytes_acked));
            }
        }
        self.last = at;
    }

    /// The acknowledged bytes of all sockets.
    pub(super) fn acked(&self) -> u64 {
        self.sockets.values().map(Socket::bytes).sum()
    }

    /// The streams of connections whose first subflow has one of the local `ports`, or of all; largest first.
    pub(super) fn streams(&self, ports: Option<&[u16]>, paths: &Paths, plan: &Plan) -> Vec<StreamRow> {
        let first = |tuple: &FiveTuple| ports.is_none_or(|ports| ports.contains(&tuple.src_port));
        let sockets = self.sockets.iter();
        let tokens: BTreeSet<u32> = sockets
            .clone()
            .filter(|(tuple, _)| first(tuple))
            .filter_map(|(_, socket)| socket.token)
            .collect();
        let ours = sockets.filter(|(tuple, socket)| {
            first(tuple) || socket.token.is_some_and(|token| tokens.contains(&token))
        });
        let mut rows: Vec<_> = ours.map(|(tuple, socket)| row(*tuple, socket, paths, plan)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
        rows
    }

    /// The rate of all sockets in bits per second, from the first sample at or after `from` to the last one.
    pub(super) fn rate_since(&self, from: f64) -> f64 {
        let carried = self.sockets.values().map(|socket| {
            let mut counted = socket.acked.iter().filter(|(at, _)| *at >= from);
            let first = counted.next().copied().unwrap_or_default();
            let last = counted.next_back().copied().unwrap_or(first);
            (last.1.saturating_sub(first.1), last.0 - first.0)
        });
        carried
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(bytes, seconds)| bytes as f64 * 8.0 / seconds)
            .sum()
    }
}

impl Socket {
    /// The socket did not exist at the sample before its first one.
    fn opened(before: f64) -> Self {
        Self { token: None, acked: vec![(before, 0)] }
    }

    fn bytes(&self) -> u64 {
        self.acked.last().map_or(0, |(_, bytes)| *bytes)
    }

    /// The rate between consecutive samples.
    fn intervals(&self) -> Vec<Interval> {
        let before = self.acked.iter().zip(self.acked.iter().skip(1));
        let interval = |((start, before), (end, after)): (&(f64, u64), &(f64, u64))| Interval {
            start: *start,
            end: *end,
            bps: after.saturating_sub(*before) as f64 * 8.0 / (end - start).max(1e-3),
        };
        before.map(interval).collect()
    }
}

fn row(tuple: FiveTuple, socket: &Socket, paths: &Paths, plan: &Plan) -> StreamRow {
    let path_changes = paths.of(tuple, plan);
    let last = path_changes.last();
    StreamRow {
        src: tuple.src,
        src_port: tuple.src_port,
        dst: tuple.dst,
        dst_port: tuple.dst_port,
        bytes: socket.bytes(),
        path: last.map(|last| last.path.clone()).unwrap_or_default(),
        devices: last.map(|last| last.devices.clone()).unwrap_or_default(),
        path_changes: if path_changes.len() > 1 { path_changes } else { Vec::new() },
        intervals: socket.intervals(),
    }
}

/// A socket in `ss` output: a line with its addresses, and indented lines with its state.
pub(super) fn entries(listing: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in listing.lines() {
        match entries.last_mut() {
            Some(entry) if line.starts_with(char::is_whitespace) => entry.push_str(line),
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

fn parse(entry: &str) -> Option<(FiveTuple, Look)> {
    let mut words = entry.split_whitespace();
    if words.next()? != "ESTAB" {
        return None;
    }
    let (local, remote) = (address(words.nth(2)?)?, address(words.next()?)?);
    let mut look = Look { token: None, bytes_acked: 0 };
    for word in words {
        if let Some(bytes) = word.strip_prefix("bytes_acked:") {
            look.bytes_acked = bytes.parse().ok()?;
        }
        if let Some(tokens) = word.strip_prefix("token:") {
            look.token = local_token(tokens);
        }
    }
    let tuple =
        FiveTuple { src: local.ip(), dst: remote.ip(), src_port: local.port(), dst_port: remote.port() };
    Some((tuple, look))
}

/// `REMOTE(id:N)/LOCAL(id:N)`, tokens in hexadecimal.
fn local_token(tokens: &str) -> Option<u32> {
    let (_, local) = tokens.split_once('/')?;
    u32::from_str_radix(local.split_once('(')?.0, 16).ok()
}

/// An address and port; a bound interface follows a percent sign.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.split('%').next()?.trim_start_matches('[').trim_end_matches(']');
    let host: IpAddr = host.parse().ok()?;
    Some(SocketAddr::new(host.to_canonical(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    const LISTING: &str = "\
ESTAB 0      0       10.0.2.1:41459 10.0.2.2:5201 ino:8081274 sk:1 cgroup:/ <->
\t ts sack reno wscale:10,10 bytes_acked:1 bytes_received:1 tcp-ulp-mptcp flags:Jjec token:66065030(id:1)/6d5195a1(id:1) seq:1
ESTAB 0      1156648 10.0.2.1:59203 10.0.2.2:5201 timer:(on,024ms,0) ino:8081277 sk:2 cgroup:/ <->
\t ts sack reno bytes_sent:20029536 bytes_acked:19864881 tcp-ulp-mptcp flags:Jjec token:aad22ab9(id:1)/bc59329(id:1) seq:b
ESTAB 0      0       10.0.1.1:56116 10.0.1.2:5201 ino:8081274 sk:3 cgroup:/ <->
\t ts sack reno bytes_acked:185 tcp-ulp-mptcp flags:Mmec token:0000(id:0)/6d5195a1(id:0) seq:6
ESTAB 0      459536  10.0.1.1:56120 10.0.1.2:5201 timer:(on,016ms,0) ino:8081277 sk:4 cgroup:/ <->
\t ts sack reno bytes_acked:19869750 tcp-ulp-mptcp flags:Mmec token:0000(id:0)/bc59329(id:0) seq:b
ESTAB 0      0       [::ffff:10.0.1.1]:22 10.0.1.2:40000 ino:1
FIN-WAIT-1 0 0 10.0.1.1:56118 10.0.1.2:5201
";

    fn plan() -> Plan {
        let text = "{scenario: t, topology: {hosts: [], switches: [s], links: []}}";
        Plan::new(&Scenario::parse(text, "t.yaml").unwrap(), &"t".parse().unwrap(), || false)
    }

    fn streams(sockets: &Sockets, port: u16) -> Vec<String> {
        let rows = sockets.streams(Some(&[port]), &Paths::default(), &plan()).into_iter();
        rows.map(|row| format!("{}:{} {}", row.src, row.src_port, row.bytes)).collect()
    }

    #[test]
    fn subflows_of_one_connection_are_found_by_its_token() {
        let mut sockets = Sockets::default();
        sockets.add(0.5, LISTING);
        assert_eq!(streams(&sockets, 56120), ["10.0.1.1:56120 19869750", "10.0.2.1:59203 19864881"]);
    }

    #[test]
    fn a_plain_connection_is_one_stream() {
        let mut sockets = Sockets::default();
        sockets.add(0.5, "ESTAB 0 0 [2001:db8::1]:40000 [2001:db8::2]:5201\n\t cubic bytes_acked:7\n");
        assert_eq!(streams(&sockets, 40000), ["2001:db8::1:40000 7"]);
        assert_eq!(streams(&sockets, 40001), [""; 0]);
    }

    #[test]
    fn a_subflow_that_is_bound_to_its_interface_is_found() {
        for local in ["[fd00:3::11]%eth0", "10.0.2.11%eth0", "[fe80::1%eth0]"] {
            let mut sockets = Sockets::default();
            sockets.add(0.5, &format!("ESTAB 0 0 {local}:40000 [fd00:3::2]:5201\n\t reno bytes_acked:7\n"));
            assert_eq!(streams(&sockets, 40000).len(), 1, "{local}");
        }
    }

    #[test]
    fn a_later_look_replaces_an_earlier_one_and_closed_streams_stay() {
        let mut sockets = Sockets::default();
        sockets.add(0.5, LISTING);
        sockets.add(
            1.0,
            "ESTAB 0 0 10.0.1.1:56120 10.0.1.2:5201 ino:1\n\t bytes_acked:30000000 token:0(id:0)/bc59329(id:0)",
        );
        assert_eq!(streams(&sockets, 56120), ["10.0.1.1:56120 30000000", "10.0.2.1:59203 19864881"]);
    }

    #[test]
    fn each_stream_is_measured_from_look_to_look_and_all_from_a_moment_on() {
        let mut sockets = Sockets::default();
        for (at, bytes) in [(0.5, 1_000), (1.0, 2_000), (1.5, 4_000)] {
            let line =
                |port: u16| format!("ESTAB 0 0 10.0.0.1:{port} 10.0.0.2:5201\n\t bytes_acked:{bytes}\n");
            sockets.add(at, &(line(40000) + &line(40001)));
        }
        let rows = sockets.streams(Some(&[40000]), &Paths::default(), &plan());
        let intervals: Vec<_> = rows[0].intervals.iter().map(|it| (it.start, it.end, it.bps)).collect();
        assert_eq!(intervals, [(0.0, 0.5, 16_000.0), (0.5, 1.0, 16_000.0), (1.0, 1.5, 32_000.0)]);
        assert_eq!((sockets.rate_since(0.5), sockets.rate_since(1.0)), (48_000.0, 64_000.0));
        assert_eq!((sockets.rate_since(1.5), sockets.rate_since(9.0)), (0.0, 0.0));
    }

    #[test]
    fn half_a_listing_does_no_harm() {
        for cut in 0..LISTING.len() {
            Sockets::default().add(0.5, &LISTING[..cut]);
        }
    }
}
