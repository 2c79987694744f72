//! The delay of a TCP flow's messages from one host to the other.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use crate::testbed::{Testbed, enter};

const LENGTH: usize = 1_000;

/// The median and the 99th percentile of a thousand messages a second, at irregular times.
pub(crate) fn measure(testbed: &Testbed, seconds: u64) -> [Duration; 2] {
    let start = Instant::now();
    let (ready, listening) = channel();
    let right = testbed.right().to_owned();
    let receiver = spawn(move || receive(&right, start, &ready));
    wait_for(&listening);
    let left = testbed.left().to_owned();
    let sender = spawn(move || send(&left, start, Duration::from_secs(seconds)));
    sender.join().expect("a sender");
    let mut delays = receiver.join().expect("a receiver");
    // The first show how caches fill.
    delays.drain(..delays.len().min(100));
    delays.sort_unstable();
    let at = |part: f64| delays.get((delays.len() as f64 * part) as usize).copied().unwrap_or_default();
    [at(0.5), at(0.99)]
}

fn wait_for(listening: &Receiver<()>) {
    listening.recv_timeout(Duration::from_secs(10)).expect("a receiver that listens");
}

fn send(space: &str, start: Instant, time: Duration) {
    enter(space);
    let mut stream = TcpStream::connect("10.9.0.2:7001").expect("a way to the other host");
    stream.set_nodelay(true).expect("a socket");
    let (mut message, mut random, began) = ([0; LENGTH], 1_u64, Instant::now());
    while began.elapsed() < time {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        sleep(Duration::from_micros(500 + (random >> 54)));
        let sent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        message[..8].copy_from_slice(&sent.to_be_bytes());
        stream.write_all(&message).expect("a connection that lives");
    }
}

fn receive(space: &str, start: Instant, ready: &Sender<()>) -> Vec<Duration> {
    enter(space);
    let listener = TcpListener::bind("0.0.0.0:7001").expect("a port");
    ready.send(()).expect("somebody waits");
    let (mut stream, _) = listener.accept().expect("a connection");
    let (mut delays, mut message) = (Vec::new(), [0; LENGTH]);
    while stream.read_exact(&mut message).is_ok() {
        let sent = message.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        delays.push(start.elapsed().saturating_sub(Duration::from_nanos(sent)));
    }
    delays
}
