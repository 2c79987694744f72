//! Greetings, refusals, and connections that say nothing or come twice.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::SyncSender;

use braid_cluster::Reach;
use braid_types::Term;
use tokio::sync::mpsc::{Receiver, channel};

use super::*;

mod tls;

fn hello(cluster: &str, member: &str, run: u64) -> Hello {
    Hello::new(cluster, &MemberId::new(member), RunId(run))
}

/// A member that listens; where, and what comes in.
fn listen(own: Hello) -> (SocketAddr, Receiver<Incoming>) {
    listen_as(plain(own))
}

fn listen_as(local: Local) -> (SocketAddr, Receiver<Incoming>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (sender, incoming) = channel(64);
    accept(listener, local, sender, Services::default());
    (address, incoming)
}

/// A member without certificates.
fn plain(hello: Hello) -> Local {
    Local { hello, tls: None }
}

/// Sends to a member; what it refuses is told to nobody.
fn connect_to(own: Hello, to: SocketAddr) -> SyncSender<Message> {
    connect(plain(own), to.to_string(), Refusals::new(channel(1).0))
}

/// Connects by hand; the greeting.
fn greeted(to: SocketAddr, hello: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(to).expect("it listens");
    writeln!(stream, "{hello}").expect("room");
    let mut greeting = vec![0; 4096];
    let read = stream.read(&mut greeting).expect("a greeting");
    (stream, String::from_utf8_lossy(&greeting[..read]).into_owned())
}

fn json(hello: &Hello) -> String {
    serde_json::to_string(hello).expect("JSON")
}

#[test]
fn messages_arrive_from_the_member_that_has_said_hello() {
    let (address, mut incoming) = listen(hello("c", "a", 1));
    let sender = connect_to(hello("c", "b", 2), address);
    let Some(Incoming::Opened(member, _)) = incoming.blocking_recv() else { panic!("no hello") };
    assert_eq!(member, MemberId::new("b"));
    // What was sent before the connection was open may be dropped.
    let message = Message::Follow { newest: Term(5), reach: None };
    let next = loop {
        sender.try_send(message).expect("room");
        if let Ok(next) = incoming.try_recv() {
            break next;
        }
        thread::sleep(Duration::from_millis(50));
    };
    assert!(matches!(next, Incoming::Message(from, it) if from == member && it == message));
    drop(sender);
    while !matches!(incoming.blocking_recv().expect("the end"), Incoming::Closed(from, _) if from == member) {
    }
}

#[test]
fn an_unknown_message_is_passed_over_and_does_not_end_the_connection() {
    let (address, mut incoming) = listen(hello("c", "a", 1));
    let (mut stream, _) = greeted(address, &json(&hello("c", "b", 2)));
    writeln!(stream, r#"{{"new_in_version_9":{{"x":1}}}}"#).expect("room");
    writeln!(stream, r#""idle""#).expect("room");
    writeln!(stream, r#"{{"follow":{{"newest":5}}}}"#).expect("room");
    assert!(matches!(incoming.blocking_recv(), Some(Incoming::Opened(..))));
    assert!(matches!(incoming.blocking_recv(), Some(Incoming::Message(_, Message::Follow { .. }))));
}

#[test]
fn strangers_twins_and_versions_that_differ_too_much_are_refused_with_the_reason() {
    let (address, _incoming) = listen(hello("c", "a", 1));
    let newer = Hello { version: 9, oldest: 9, ..hello("c", "b", 2) };
    let cases = [
        (hello("other", "b", 2), "--cluster-name"),
        (hello("c", "a", 2), "--cluster-member"),
        (hello("c", "a", 1), "--cluster-advertise"),
        (newer, "upgrade the older one"),
    ];
    for (theirs, why) in cases {
        let (_, greeting) = greeted(address, &json(&theirs));
        assert!(greeting.contains(why), "{greeting}");
    }
}

#[test]
fn a_newer_version_that_speaks_the_older_one_too_is_welcome() {
    let newer = Hello { version: 9, ..hello("c", "b", 2) };
    assert_eq!(hello("c", "a", 1).common_version(&newer), Ok(VERSION));
    let (address, _incoming) = listen(hello("c", "a", 1));
    let (_, greeting) = greeted(address, &json(&newer));
    assert!(greeting.contains(r#""refused":null"#), "{greeting}");
}

#[test]
fn whoever_listens_can_be_asked_who_it_is() {
    let own = hello("c", "a", 1);
    let (address, _incoming) = listen(own.clone());
    let twin = hello("c", "a", 2);
    let found = identify(&plain(twin.clone()), &address.to_string()).expect("a greeting");
    assert!(found == own && twin.is_twin(&found) && !own.is_twin(&found));
    assert_eq!(identify(&plain(twin), "127.0.0.1:1"), None);
}

#[test]
fn silent_connections_lock_no_member_out() {
    let (address, mut incoming) = listen(hello("c", "a", 1));
    let silent: Vec<_> = (0..200).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    let _sender = connect_to(hello("c", "b", 2), address);
    assert!(matches!(incoming.blocking_recv(), Some(Incoming::Opened(..))));
    drop(silent);
}

#[test]
fn the_older_connection_of_a_member_ends_when_it_connects_anew() {
    let (address, mut incoming) = listen(hello("c", "a", 1));
    let (_first, _) = greeted(address, &json(&hello("c", "b", 2)));
    let (_second, _) = greeted(address, &json(&hello("c", "b", 2)));
    let mut opened = Vec::new();
    let closed = loop {
        match incoming.blocking_recv().expect("more") {
            Incoming::Opened(_, connection) => opened.push(connection),
            Incoming::Closed(_, connection) => break connection,
            Incoming::Message(..) | Incoming::Refused { .. } => {}
        }
    };
    assert_eq!(opened.first(), Some(&closed));
}

#[test]
fn members_of_older_versions_say_nothing_of_switches_and_understand_who_does() {
    let of = |text: &str| serde_json::from_str::<Message>(text).expect("a message");
    let (term, reach) = (Term(7), Some(Reach { switches: 20, relayed: 0, is_ready: true }));
    let old = r#"{"heartbeat":{"term":7,"has_lease":true}}"#;
    assert_eq!(of(old), Message::Heartbeat { term, has_lease: true, reach: None });
    let unknown = Message::Heartbeat { term, has_lease: true, reach: None };
    assert_eq!(serde_json::to_string(&unknown).expect("JSON"), old);
    let new = serde_json::to_string(&Message::Follow { newest: term, reach }).expect("JSON");
    assert_eq!(new, r#"{"follow":{"newest":7,"reach":{"switches":20,"is_ready":true}}}"#);
    // A later version may say more.
    assert_eq!(of(&new.replace("true", "true,\"more\":1")), Message::Follow { newest: term, reach });
}
