//! Path queries over the API: by switch and host, reasons for no path, refusals, and many at once.

use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use braid_openflow::{
    Action, BufferId, Bytes, Cookie, List, Match, Message, MultipartFlags, MultipartReply, MultipartRequest,
    OxmField, PacketIn, PacketInReason, PortStats, ReplyBody, RequestBody, TableId, Xid,
};
use braid_packet::arp::Arp;
use braid_types::{MacAddr, PortNo};
use serde_json::{Value, json};

use crate::support::{Running, Switch, wait_for};

const LINK_PORT: PortNo = PortNo(1);
const HOST_PORT: PortNo = PortNo(2);

/// Switches 1 and 2, joined by a link, a host at each; switch 3 is alone.
pub(crate) fn network() -> Running {
    let controller = Running::start(None);
    let [one, two, three] = [1, 2, 3].map(|dpid| Switch::join(controller.openflow, dpid));
    let [to_one, to_two] = [&one, &two].map(|switch| switch.stream.try_clone().expect("a socket"));
    let hosts = [(1, &to_one), (2, &to_two)].map(|(host, to)| (host, to.try_clone().expect("a socket")));
    thread::spawn(move || carry(one, Some(to_two)));
    thread::spawn(move || carry(two, Some(to_one)));
    thread::spawn(move || carry(three, None));
    wait_for(|| controller.list("links").len() == 2, || format!("{:?}", controller.list("links")));
    // A port that is new is not believed to have a host yet.
    let announce = || hosts.iter().for_each(|(host, switch)| announce(*host, switch));
    let known = || controller.list("hosts").len() == 2;
    wait_for(
        || {
            announce();
            known()
        },
        || format!("{:?}", controller.list("hosts")),
    );
    controller
}

fn announce(host: u8, mut switch: &TcpStream) {
    let announcement = Arp::request(mac(host), ip(host), ip(host)).frame();
    switch.write_all(&packet_in(HOST_PORT, &announcement)).expect("open channel");
}

/// Carries what leaves through the link to the other switch, and answers what measures it.
fn carry(mut switch: Switch, mut other: Option<TcpStream>) {
    while let Some(bytes) = switch.receive() {
        let packet = match Message::decode(&bytes) {
            Ok((_, Message::PacketOut(packet))) => packet,
            Ok((xid, Message::EchoRequest(echo))) => {
                switch.reply(xid, &Message::EchoReply(echo));
                continue;
            }
            Ok((xid, Message::MultipartRequest(MultipartRequest { body: RequestBody::Port(_), .. }))) => {
                switch.reply(xid, &counters());
                continue;
            }
            _ => continue,
        };
        if packet.actions.iter().eq([Action::output(LINK_PORT)])
            && let Some(other) = &mut other
        {
            // The channel closes at the end of the test.
            let _ = other.write_all(&packet_in(LINK_PORT, packet.data.0));
        }
    }
}

/// A port that has sent a packet of 1,000 bytes each millisecond since the clock was set.
fn counters() -> Message<'static> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock that is set");
    let packets = u64::try_from(since.as_millis()).expect("now");
    let stats = PortStats {
        port_no: LINK_PORT,
        rx_packets: packets,
        tx_packets: packets,
        rx_bytes: packets * 1_000,
        tx_bytes: packets * 1_000,
        rx_dropped: 0,
        tx_dropped: 0,
        rx_errors: 0,
        tx_errors: 0,
        rx_frame_err: 0,
        rx_over_err: 0,
        rx_crc_err: 0,
        collisions: 0,
        duration_sec: 0,
        duration_nsec: 0,
    };
    let stats: &[PortStats] = Box::leak(Box::new([stats]));
    let reply = MultipartReply { flags: MultipartFlags::NONE, body: ReplyBody::Port(List::new(stats)) };
    Message::MultipartReply(reply)
}

fn packet_in(port: PortNo, frame: &[u8]) -> Vec<u8> {
    let fields = [OxmField::InPort(port)];
    let message = Message::PacketIn(PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: u16::try_from(frame.len()).expect("a frame"),
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(0),
        matching: Match::new(&fields),
        data: Bytes(frame),
    });
    let mut bytes = Vec::new();
    message.encode(Xid(0), &mut bytes).expect("short message");
    bytes
}

fn mac(host: u8) -> MacAddr {
    MacAddr::new([2, 0, 0, 0, 0, host])
}

fn ip(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, host)
}

fn ask(controller: &Running, parameters: &str) -> (u16, Value) {
    let (status, body) = controller.get(&format!("/api/v1/paths?{parameters}"));
    let body: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
    assert_eq!(body["schema"], "braid/v1");
    (status, body)
}

#[test]
fn paths_are_found_between_switches_and_hosts_by_any_address() {
    let controller = network();
    for ends in [
        "src=1&dst=2",
        "src=0000000000000001&dst=0x2",
        "src=10.0.0.1&dst=10.0.0.2",
        "src=02:00:00:00:00:01&dst=02%3A00%3A00%3A00%3A00%3A02",
    ] {
        let (status, body) = ask(&controller, ends);
        assert_eq!(status, 200, "{body}");
        let [path] = body["paths"].as_array().expect("a list").as_slice() else { panic!("{body}") };
        assert_eq!(path["nodes"], json!(["0000000000000001", "0000000000000002"]));
        assert_eq!((&path["hops"], &path["links"][0]["src"]["port"]), (&json!(1), &json!(1)));
        assert!(body["now"].as_u64().is_some_and(|now| now > 0));
    }
    let (_, body) = ask(&controller, "src=10.0.0.1&dst=2&mode=maxflow&k=3&weight=latency");
    assert_eq!(
        (&body["src"]["name"], &body["src"]["node"]),
        (&json!("10.0.0.1"), &json!("0000000000000001"))
    );
    assert_eq!(
        (&body["mode"], &body["k"], &body["weight"]),
        (&json!("maxflow"), &json!(3), &json!("latency"))
    );
    assert_eq!(body["max_flow_bps"], json!(10_000_000_000_u64));
}

#[test]
fn no_path_is_an_answer_with_its_reason() {
    let controller = network();
    for (parameters, reason) in [
        ("src=1&dst=3", "disconnected"),
        ("src=1&dst=2&without=1--2", "excluded"),
        ("src=1&dst=2&without=2:1", "excluded"),
        ("src=1&dst=2&min_capacity=1Tbit", "excluded"),
    ] {
        let (status, body) = ask(&controller, parameters);
        assert_eq!(
            (status, &body["paths"], &body["reason"]),
            (200, &json!([]), &json!(reason)),
            "{parameters}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_question_is_named() {
    let controller = network();
    for (parameters, status, parameter) in [
        ("src=1", 400, "dst"),
        ("src=1&dst=2&k=0", 400, "k"),
        ("src=1&dst=2&k=4097", 400, "k"),
        ("src=1&dst=2&k=many", 400, "k"),
        ("src=1&dst=2&mode=fastest", 400, "mode"),
        ("src=1&dst=2&weight=-1*hops", 400, "weight"),
        ("src=1&dst=2&min_capacity=much", 400, "min_capacity"),
        ("src=1&dst=2&max_latency=soon", 400, "max_latency"),
        ("src=1&src=2&dst=2", 400, "src"),
        ("src=1&dst=2&colour=blue", 400, "colour"),
        ("src=1&dst=9", 404, "dst"),
        ("src=10.0.0.9&dst=2", 404, "src"),
        ("src=02:00:00:00:00:09&dst=2", 404, "src"),
        ("src=%FF%00&dst=2", 404, "src"),
        ("src=1&dst=2&without=9", 404, "without"),
        ("src=1&dst=2&without=1:7", 404, "without"),
    ] {
        let (answered, body) = ask(&controller, parameters);
        assert_eq!((answered, &body["parameter"]), (status, &json!(parameter)), "{parameters}: {body}");
        assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
    }
}

#[test]
fn many_questions_at_once_are_all_answered_or_turned_away() {
    let controller = network();
    thread::scope(|scope| {
        let ask = || controller.get("/api/v1/paths?src=1&dst=2&mode=ksp&k=4096").0;
        let clients: Vec<_> = (0..100).map(|_| scope.spawn(ask)).collect();
        let statuses: Vec<_> = clients.into_iter().map(|client| client.join().expect("an answer")).collect();
        assert!(statuses.contains(&200));
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    });
    assert_eq!(ask(&controller, "src=1&dst=2").0, 200);
}
