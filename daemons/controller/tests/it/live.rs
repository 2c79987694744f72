//! Live state and events, and history.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;

use braid_api::{Delta, Event, Snapshot};
use braid_openflow::{Port, PortReason, PortState, PortStatus, Xid};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::network::Network;
use crate::paths::network;
use crate::support::{Running, Switch, port, wait_for};

/// A message of a stream.
#[derive(Debug)]
struct Message {
    id: String,
    event: String,
    data: Value,
}

/// Somebody who reads a stream.
struct Watcher(BufReader<TcpStream>);

impl Watcher {
    fn open(controller: &Running, path: &str, last: &str) -> Self {
        let last = format!("Last-Event-ID: {last}");
        Self(controller.open("GET", path, &["Host: localhost", &last]))
    }

    /// The next message; comments, and how the transfer was cut into chunks, are passed over.
    fn next(&mut self) -> Message {
        let mut fields = BTreeMap::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("in time") > 0, "the stream has ended");
            match line.trim_end().split_once(": ") {
                Some((name @ ("id" | "event" | "data"), value)) => {
                    fields.insert(name.to_owned(), value.to_owned());
                }
                _ if line == "\n" && fields.contains_key("data") => break,
                _ => {}
            }
        }
        let mut take = |name: &str| fields.remove(name).unwrap_or_default();
        let (id, event, data) = (take("id"), take("event"), take("data"));
        assert_is_described(&event, &data);
        Message { id, event, data: serde_json::from_str(&data).expect("JSON") }
    }

    fn until(&mut self, wanted: impl Fn(&Message) -> bool) -> Message {
        loop {
            let message = self.next();
            if wanted(&message) {
                return message;
            }
        }
    }
}

/// Every message is of a type of the API, and reads back as it was written.
fn assert_is_described(event: &str, data: &str) {
    fn round_trip<T: DeserializeOwned + Serialize>(data: &str) {
        let read: T = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"));
        let written = serde_json::to_value(read).expect("JSON");
        assert_eq!(written, serde_json::from_str::<Value>(data).expect("JSON"));
    }
    match event {
        "snapshot" => round_trip::<Snapshot>(data),
        "delta" => round_trip::<Delta>(data),
        "event" => round_trip::<Event>(data),
        "begin" => assert_eq!(data, "{}"),
        other => panic!("{other} is not described"),
    }
}

fn is_notice(message: &Message, kind: &str) -> bool {
    message.event == "event" && message.data["notice"] == kind
}

#[test]
fn a_watcher_sees_the_state_and_then_what_changes_and_why() {
    let controller = Running::start(None);
    let _first = Switch::join(controller.openflow, 1);
    controller.wait_for_switches(1);
    let mut early = Watcher::open(&controller, "/api/v1/stream", "");
    assert_eq!(early.next().event, "snapshot");
    early.until(|it| it.event == "delta" && it.data["now"].as_u64() > Some(0));
    let mut watcher = Watcher::open(&controller, "/api/v1/stream", "");
    let snapshot = watcher.next();
    assert_eq!(
        (&snapshot.event[..], &snapshot.data["switches"][0]["dpid"]),
        ("snapshot", &"0000000000000001".into())
    );
    assert_eq!(snapshot.data["events"][0]["notice"], "switch_joined");
    let second = Switch::join(controller.openflow, 2);
    let joined = watcher.until(|it| is_notice(it, "switch_joined"));
    assert_eq!(joined.data["text"], "switch 0000000000000002 joined with 2 ports");
    // The first one's ports show what they lead to meanwhile.
    let tells = |it: &Message, what: &str, dpid: &str| {
        let told = it.data["switches"][what].as_array().into_iter().flatten();
        it.event == "delta" && told.map(|it| it.get("dpid").unwrap_or(it)).any(|it| it == dpid)
    };
    watcher.until(|it| tells(it, "set", "0000000000000002"));
    drop(second);
    watcher.until(|it| tells(it, "removed", "0000000000000002"));
}

#[test]
fn a_watcher_that_comes_back_gets_what_it_has_missed_and_nothing_twice() {
    let controller = Running::start(None);
    let mut watcher = Watcher::open(&controller, "/api/v1/events/stream", "");
    let begin = watcher.next();
    assert_eq!(begin.event, "begin");
    let _one = Switch::join(controller.openflow, 1);
    let first = watcher.until(|it| is_notice(it, "switch_joined"));
    drop(watcher);
    let _two = Switch::join(controller.openflow, 2);
    let told = || controller.list("events").len();
    wait_for(|| told() >= 2, || format!("{:?}", controller.list("events")));
    let mut again = Watcher::open(&controller, "/api/v1/events/stream", &first.id);
    let missed = again.next();
    assert_eq!((missed.event.as_str(), missed.data["number"].as_u64()), ("event", Some(2)));
    assert_eq!(missed.data["dpid"], "0000000000000002");
    for stranger in ["", "0-1", "nonsense", "\u{fe}"] {
        assert_eq!(Watcher::open(&controller, "/api/v1/events/stream", stranger).next().event, "begin");
    }
    let (_, body) = controller.get("/api/v1/events?after=1&limit=5");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body["events"][0]["number"], 2);
    assert_eq!(body["last_event_id"], missed.id);
}

#[test]
fn a_watcher_that_begins_during_an_outage_sees_which_links_are_lost() {
    let network = Network::start();
    let desc = Port { state: PortState::LINK_DOWN, ..port(1) };
    let down = PortStatus { reason: PortReason::Modify, desc };
    network.channel_of(1).say(Xid(0), &braid_openflow::Message::PortStatus(down));
    let begin = || Watcher::open(&network.controller, "/api/v1/stream", "").next().data;
    let count = || begin()["lost_links"].as_array().map_or(0, Vec::len);
    wait_for(|| count() == 2, || begin().to_string());
    let snapshot = begin();
    let lost = &snapshot["lost_links"][0];
    assert_eq!(
        (&lost["src"], &lost["why"]),
        (&json!({ "dpid": "0000000000000001", "port": 1 }), &"port_down".into())
    );
    assert_eq!(snapshot["links"], json!([]));
    let up = PortStatus { reason: PortReason::Modify, desc: port(1) };
    network.channel_of(1).say(Xid(0), &braid_openflow::Message::PortStatus(up));
    wait_for(|| count() == 0, || begin().to_string());
}

#[test]
fn what_was_measured_of_a_link_is_there_step_by_step() {
    let controller = network();
    let ask = || {
        let (status, body) = controller.get("/api/v1/links/history?dpid=1&port=1");
        (status == 200).then(|| serde_json::from_str::<Value>(&body).expect("JSON"))
    };
    let loads = |history: &Value| {
        history["load_bps"]
            .as_array()
            .is_some_and(|loads| loads.iter().filter(|load| load.as_f64() > Some(0.0)).count() > 2)
    };
    wait_for(|| ask().is_some_and(|history| loads(&history)), || format!("{:?}", ask()));
    let history = ask().expect("measured");
    let steps = history["times"].as_array().expect("times").len();
    for column in ["load_bps", "delay_us", "loss"] {
        assert_eq!(history[column].as_array().map(Vec::len), Some(steps), "{column}");
    }
    assert_eq!(history["step_s"], 1);
    let (status, body) = controller.get("/api/v1/links/history?dpid=1&port=1&since=18446744073709551615");
    assert!(status == 200 && body.contains("\"times\":[]"), "{body}");
}
