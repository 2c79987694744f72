//! The metrics of a site: their text, and that each is documented.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;

use super::*;

fn document() -> StatusDocument {
    let path = |uplink: &str, up| PathDocument {
        uplink: uplink.to_owned(),
        remote: None,
        up,
        suspended: false,
        share: 0.25,
        round_trip_us: up.then_some(40_500),
        queue_us: up.then_some(6_000),
        waiting_us: 1_000,
        rate_bps: up.then_some(8_000_000),
        cost: 0,
        loss: None,
        mtu: 1_398,
        sessions: 3,
        cipher: None,
    };
    let peer = PeerDocument {
        name: "a \"branch\"".to_owned(),
        public_key: String::new(),
        sent: 10,
        received: 9,
        no_path: 8,
        split: 7,
        repaired: 6,
        parity: 2,
        recovered: 1,
        urgent: 5,
        duplicated: 4,
        overflowed: 3,
        paths: vec![path("wan1", true), path("wan2", false)],
    };
    let uplink =
        UplinkDocument { interface: "wan1".to_owned(), ready: true, sent: 2, received: 1, refused: 0 };
    StatusDocument {
        schema: "braid/v1".to_owned(),
        public_key: String::new(),
        device: "braid0".to_owned(),
        mtu: 1_398,
        reloaded: false,
        uplinks: vec![uplink],
        peers: vec![peer],
        forged: 1,
        strange: 2,
        limited: 3,
        unknown_keys: 4,
        unroutable: 5,
        spoofed: 6,
    }
}

#[test]
fn each_value_has_its_labels_and_what_is_unknown_has_no_sample() {
    let text = text_of(document());
    let wanted = [
        "braid_site_configuration_last_reload_successful{device=\"braid0\"} 0.0",
        "braid_site_forged_datagrams_total{device=\"braid0\"} 1",
        "braid_site_uplink_ready{uplink=\"wan1\"} 1.0",
        "braid_site_peer_urgent_packets_total{peer=\"a \\\"branch\\\"\"} 5",
        "braid_site_path_round_trip_seconds{peer=\"a \\\"branch\\\"\",path=\"0\",uplink=\"wan1\"} 0.0405",
        "braid_site_path_capacity_bytes_per_second{peer=\"a \\\"branch\\\"\",path=\"0\",uplink=\"wan1\"} 1000000.0",
        "braid_site_path_up{peer=\"a \\\"branch\\\"\",path=\"1\",uplink=\"wan2\"} 0.0",
    ];
    for line in wanted {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("round_trip_seconds{peer=\"a \\\"branch\\\"\",path=\"1\""));
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn the_documentation_has_each_metric_and_no_other() {
    let page = include_str!("../../../../docs/metrics.md");
    let row = |line: &str| Some(line.strip_prefix("| `braid_site_")?.split_once('`')?.0.to_owned());
    let documented: BTreeSet<_> = page.lines().filter_map(row).collect();
    let family = |line: &str| {
        let (name, kind) = line.strip_prefix("# TYPE braid_site_")?.split_once(' ')?;
        Some(if kind == "counter" { format!("{name}_total") } else { name.to_owned() })
    };
    let served: BTreeSet<_> = text_of(document()).lines().filter_map(family).collect();
    assert!(!served.is_empty());
    assert_eq!(documented, served);
}

#[test]
fn they_are_served_over_http_and_a_site_that_is_gone_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("site.sock");
    let site = UnixListener::bind(&socket).unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    serve(address, socket.clone()).unwrap();
    assert!(matches!(serve(address, socket.clone()), Err(SiteError::Metrics { .. })));
    let ask = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answering = std::thread::spawn(move || {
        let document = serde_json::to_vec(&document()).unwrap();
        site.accept().unwrap().0.write_all(&document).unwrap();
    });
    let answer = ask();
    answering.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(OPEN_METRICS), "{answer}");
    assert!(answer.contains("braid_site_mtu_bytes{device=\"braid0\"} 1398.0"), "{answer}");
    // The headers have the time of day.
    let body = |answer: &str| answer.split("\r\n\r\n").nth(1).map(str::to_owned);
    assert_eq!(body(&ask()), body(&answer), "the site is not asked again at once");
    std::thread::sleep(KEPT_FOR);
    assert!(ask().starts_with("HTTP/1.1 503"));
}

#[test]
fn idle_connections_are_few_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    serve(address, folder.path().join("site.sock")).unwrap();
    let idle: Vec<_> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut ended = String::new();
    (&idle[0]).read_to_string(&mut ended).unwrap();
    let mut last = &idle[19];
    last.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    last.read_to_string(&mut ended).unwrap();
    assert!(ended.starts_with("HTTP/1.1 503"), "{ended}");
}
