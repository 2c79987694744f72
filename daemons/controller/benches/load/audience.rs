//! API clients of the benchmark: watchers, and one that sends requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, recv};

use braid_load::Poller;

const PAUSE: Duration = Duration::from_millis(2);
/// What is asked for, again and again.
const PATHS: [&str; 9] = [
    "/api/v1/switches",
    "/api/v1/links",
    "/api/v1/hosts",
    "/api/v1/edges",
    "/api/v1/transfers",
    "/api/v1/events",
    "/api/v1/paths?src=1&dst=50&mode=disjoint",
    "/api/v1/links/history?dpid=1&port=1",
    "/metrics",
];

/// Watchers of everything, who read what comes.
pub(crate) struct Watchers {
    over: Arc<AtomicBool>,
    reading: JoinHandle<u64>,
}

impl Watchers {
    pub(crate) fn start(to: SocketAddr, count: usize) -> Self {
        let streams: Vec<_> = (0..count).map(|_| open(to)).collect();
        let over = Arc::new(AtomicBool::new(false));
        let ended = over.clone();
        Self { over, reading: thread::spawn(move || discard(&streams, &ended)) }
    }

    /// The bytes that they have read.
    pub(crate) fn stop(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        self.reading.join().expect("watchers")
    }
}

fn open(to: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(to).expect("HTTP port");
    write!(stream, "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
    stream
}

/// Reads and forgets: the kernel does not copy what is thrown away, so that watchers take little of the generator's core.
fn discard(streams: &[TcpStream], over: &AtomicBool) -> u64 {
    let (mut poller, mut read, mut buffer) = (Poller::new().expect("epoll"), 0, vec![0; 1 << 20]);
    streams.iter().enumerate().for_each(|(index, stream)| poller.add(stream, index).expect("a socket"));
    while !over.load(Ordering::Relaxed) {
        for index in poller.wait().expect("epoll") {
            let (_, count) = recv(&streams[index], &mut buffer[..], RecvFlags::TRUNC).expect("a watcher");
            assert!(count > 0, "a watcher was cut off");
            read += count as u64;
        }
    }
    read
}

/// One who asks for everything in turn.
pub(crate) struct Asker {
    over: Arc<AtomicBool>,
    asking: JoinHandle<Vec<(String, Vec<Duration>)>>,
}

impl Asker {
    pub(crate) fn start(to: SocketAddr) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ended = over.clone();
        Self { over, asking: thread::spawn(move || ask_on(to, &ended)) }
    }

    /// How long each answer took, by what was asked for.
    pub(crate) fn stop(self) -> Vec<(String, Vec<Duration>)> {
        self.over.store(true, Ordering::Relaxed);
        self.asking.join().expect("who asks")
    }
}

fn ask_on(to: SocketAddr, over: &AtomicBool) -> Vec<(String, Vec<Duration>)> {
    let mut stream = BufReader::new(TcpStream::connect(to).expect("HTTP port"));
    let mut times = PATHS.map(|path| (path.to_owned(), Vec::new())).to_vec();
    while !over.load(Ordering::Relaxed) {
        for (path, times) in &mut times {
            times.push(ask(&mut stream, path));
            thread::sleep(PAUSE);
        }
    }
    times
}

fn ask(stream: &mut BufReader<TcpStream>, path: &str) -> Duration {
    let start = Instant::now();
    // At once: what a second write waits for would be counted.
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).expect("a request");
    let (mut line, mut length) = (String::new(), 0);
    stream.read_line(&mut line).expect("a status");
    assert!(line.contains(" 200 "), "{path}: {line}");
    while line != "\r\n" {
        line.clear();
        stream.read_line(&mut line).expect("a header");
        if let Some((_, value)) = line.split_once("content-length: ") {
            length = value.trim().parse().expect("a length");
        }
    }
    stream.read_exact(&mut vec![0; length]).expect("a body");
    start.elapsed()
}
