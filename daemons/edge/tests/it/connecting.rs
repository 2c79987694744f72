//! Connections to controllers: reconnection, and peers with another protocol.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use braid_openflow::{Echo, Message, Xid, frame_length};

use crate::support::Running;

fn hear(stream: &mut TcpStream) -> String {
    let mut unread = Vec::new();
    loop {
        if let Some(length) = frame_length(&unread).unwrap() {
            assert_eq!(length, unread.len(), "one message at a time");
            return format!("{:?}", Message::decode(&unread).unwrap().1.message_type());
        }
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        unread.extend(byte);
    }
}

fn accept(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

#[test]
fn an_edge_connects_to_its_controller_and_comes_back_when_that_was_away() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _edge = Running::start(vec![listener.local_addr().unwrap()]);
    for _ in 0..2 {
        let mut stream = accept(&listener);
        assert_eq!(hear(&mut stream), "Hello");
        let mut bytes = Vec::new();
        Message::EchoRequest(Echo { data: b"?"[..].into() }).encode(Xid(3), &mut bytes).unwrap();
        // In pieces, as networks deliver.
        bytes.chunks(3).for_each(|piece| stream.write_all(piece).unwrap());
        assert_eq!(hear(&mut stream), "EchoReply");
    }
}

#[test]
fn a_peer_that_speaks_something_else_is_let_go() {
    let edge = Running::start(Vec::new());
    let mut stream = TcpStream::connect(edge.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"\x04\x00\x00\x03GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    // A reset is as good as an end: what was not read makes it one.
    let _ = stream.read_to_end(&mut rest);
    // And the next is served.
    let mut next = TcpStream::connect(edge.address).unwrap();
    next.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(hear(&mut next), "Hello");
}

#[test]
fn idle_clients_of_the_listener_keep_nobody_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let edge = Running::start(vec![listener.local_addr().unwrap()]);
    let idle: Vec<_> = (0..200).map(|_| TcpStream::connect(edge.address).unwrap()).collect();
    let mut own = accept(&listener);
    assert_eq!(hear(&mut own), "Hello");
    let mut honest = TcpStream::connect(edge.address).unwrap();
    honest.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(hear(&mut honest), "Hello");
    let mut first = &idle[0];
    first.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // It gave way to others: after the edge's HELLO nothing comes.
    assert!(first.read_to_end(&mut Vec::new()).is_ok_and(|read| read <= 16));
}

#[test]
fn a_silent_controller_is_asked_and_replaced() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _edge = Running::start(vec![listener.local_addr().unwrap()]);
    let mut stream = accept(&listener);
    let mut hello = Vec::new();
    Message::Hello(braid_openflow::Hello::V1_3).encode(Xid(1), &mut hello).unwrap();
    stream.write_all(&hello).unwrap();
    assert_eq!(hear(&mut stream), "Hello");
    assert_eq!(hear(&mut stream), "EchoRequest");
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed, since nothing was answered");
    assert_eq!(hear(&mut accept(&listener)), "Hello");
}

#[test]
fn a_client_that_asks_much_and_reads_nothing_costs_little_memory_and_is_served_once_it_reads() {
    let edge = Running::start(Vec::new());
    let mut greedy = TcpStream::connect(edge.address).unwrap();
    let mut bytes = Vec::new();
    Message::Hello(braid_openflow::Hello::V1_3).encode(Xid(1), &mut bytes).unwrap();
    // Each is answered with as many bytes, more than the sockets hold.
    const ECHOES: usize = 1_500;
    let data = vec![7; 60_000];
    for number in 0..ECHOES {
        let echo = Message::EchoRequest(Echo { data: braid_openflow::Bytes(&data) });
        echo.encode(Xid(number as u32), &mut bytes).unwrap();
    }
    let before = memory();
    let writer = std::thread::spawn({
        let mut writing = greedy.try_clone().unwrap();
        move || writing.write_all(&bytes).is_ok()
    });
    std::thread::sleep(Duration::from_secs(3));
    assert!(!writer.is_finished(), "the edge goes on reading");
    assert!(memory() < before + (24 << 20), "{} MiB more", (memory() - before) >> 20);
    greedy.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(hear(&mut greedy), "Hello");
    for _ in 0..ECHOES {
        let mut reply = vec![0; data.len() + 8];
        greedy.read_exact(&mut reply).unwrap();
        assert_eq!(reply.get(1), Some(&3), "an echo reply");
    }
    assert!(writer.join().unwrap());
}

/// Bytes of memory that this process has.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}
