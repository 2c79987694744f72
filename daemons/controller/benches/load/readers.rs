//! The cost of readers of a long list: 100,000 transfers, page by page, by 64 readers at once.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, recv};

use braid_load::Placed;

use crate::fat_tree;
use crate::process::{self, Process};
use crate::report;
use braid_load::Poller;
use braid_load::{Load, Network, Requests};

pub(crate) const TRANSFERS: usize = 100_000;
const READERS: usize = 64;
/// Both directions of a connection.
const RULES: u64 = 2;
/// So many that none is asked for while it is there.
const CONNECTIONS: usize = 20_000;
const ROUNDS: usize = 4;
const WINDOW: usize = 64;
/// More than the headers of an answer and what stands before its list.
const HEAD: usize = 2_048;

pub(crate) fn run() {
    let controller = Process::start("controller");
    let (mut network, hosts) = fat_tree::deploy(&controller);
    let mut requests = fat_tree::requests(&hosts);
    println!("FatTree, k = 8: 80 switches, 128 hosts, {TRANSFERS} transfers, all of which carry something");
    fill(&mut network, &mut requests);
    answer(&mut network, &hosts, requests.len());
    let (mut alone, mut read, mut took) = (Vec::new(), Vec::new(), Vec::new());
    for (index, requests) in requests.iter_mut().take(ROUNDS) {
        alone.extend(
            network
                .time(*index, requests, (CONNECTIONS, RULES), TRANSFERS)
                .expect("a controller that answers"),
        );
        let readers = Readers::start(controller.http, READERS);
        settle(&mut network);
        let (start, busy) = (Instant::now(), controller.time_on_core());
        read.extend(
            network
                .time(*index, requests, (CONNECTIONS, RULES), TRANSFERS)
                .expect("a controller that answers"),
        );
        let (elapsed, busy) = (start.elapsed(), controller.time_on_core() - busy);
        let Reading { bytes, pages } = readers.stop();
        println!(
            "  {:30} {:10.1} MB a second, {} pages; the controller had {:.2} of a core",
            "read",
            bytes as f64 / 1e6 / elapsed.as_secs_f64(),
            pages.len(),
            busy.as_secs_f64() / elapsed.as_secs_f64(),
        );
        took.extend(pages);
        settle(&mut network);
    }
    report::latency("nobody reads", alone.clone());
    report::latency(&format!("{READERS} read"), read.clone());
    report::quotient("against nobody reading", read, alone);
    report::latency("a page", took);
    report::memory(0, controller.memory());
}

/// Opens as many connections as there are to be.
fn fill(network: &mut Network, requests: &mut BTreeMap<usize, Requests>) {
    let mut open = 0;
    // The first ones may be lost on a busy machine: each path is confirmed for the first time.
    for _ in 0..10 {
        let most = TRANSFERS.saturating_sub(open).div_ceil(requests.len());
        let load = Load {
            window: WINDOW.min(most),
            time: Duration::from_secs(5),
            most,
            streams: TRANSFERS,
            rate: None,
        };
        open += network.load(requests, load).expect("a controller that answers").packets as usize;
        if open >= TRANSFERS {
            return settle(network);
        }
    }
    panic!("{open} connections");
}

/// Has all of them answered, by which they become transfers.
fn answer(network: &mut Network, hosts: &[Placed], switches: usize) {
    let answers = fat_tree::answers(hosts, TRANSFERS.div_ceil(switches));
    answers
        .chunks(1_000)
        .for_each(|some| network.tell(some.iter().cloned()).expect("a controller that answers"));
    settle(network);
}

/// Plays the network until it is as it will be.
fn settle(network: &mut Network) {
    let start = Instant::now();
    network
        .serve_until(|_| start.elapsed() > Duration::from_millis(1_500))
        .expect("a controller that answers");
}

/// API clients that read all transfers from the first page to the last, and then again.
struct Readers {
    over: Arc<AtomicBool>,
    reading: JoinHandle<Reading>,
}

/// What was read, and how long each page took.
#[derive(Default)]
struct Reading {
    bytes: u64,
    pages: Vec<Duration>,
}

impl Readers {
    fn start(to: SocketAddr, count: usize) -> Self {
        let mut readers: Vec<_> = (0..count).map(|_| Reader::open(to)).collect();
        let over = Arc::new(AtomicBool::new(false));
        let ended = over.clone();
        let reading = thread::spawn(move || {
            process::yield_to_others();
            read_on(&mut readers, &ended)
        });
        Self { over, reading }
    }

    fn stop(self) -> Reading {
        self.over.store(true, Ordering::Relaxed);
        self.reading.join().expect("readers")
    }
}

fn read_on(readers: &mut [Reader], over: &AtomicBool) -> Reading {
    let (mut poller, mut reading, mut buffer) =
        (Poller::new().expect("epoll"), Reading::default(), vec![0; 1 << 20]);
    readers
        .iter()
        .enumerate()
        .for_each(|(index, reader)| poller.add(&reader.stream, index).expect("a socket"));
    while !over.load(Ordering::Relaxed) {
        for index in poller.wait().expect("epoll") {
            let (read, page) = readers[index].read(&mut buffer);
            reading.bytes += read;
            reading.pages.extend(page);
        }
    }
    reading
}

/// One of them. It looks at the front of each answer only; the kernel does not copy what is thrown away.
struct Reader {
    stream: TcpStream,
    head: Vec<u8>,
    /// Bytes of the answer that have not come yet, once its head has.
    left: Option<usize>,
    cursor: Option<String>,
    asked_at: Instant,
}

impl Reader {
    fn open(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).expect("HTTP port");
        let mut reader =
            Self { stream, head: Vec::new(), left: None, cursor: None, asked_at: Instant::now() };
        reader.ask();
        reader
    }

    fn ask(&mut self) {
        let cursor = self.cursor.take().map_or_else(String::new, |cursor| format!("?cursor={cursor}"));
        let request = format!("GET /api/v1/transfers{cursor} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        (self.left, self.asked_at) = (None, Instant::now());
        self.head.clear();
        self.stream.write_all(request.as_bytes()).expect("a request");
    }

    /// Reads once; the bytes that came, and how long the page took if it was its end.
    fn read(&mut self, buffer: &mut [u8]) -> (u64, Option<Duration>) {
        let count = match self.left {
            Some(left) => {
                let count = buffer.len().min(left);
                let (_, count) =
                    recv(&self.stream, &mut buffer[..count], RecvFlags::TRUNC).expect("an answer");
                self.left = Some(left - count);
                count
            }
            None => {
                let (_, count) =
                    recv(&self.stream, &mut buffer[..HEAD], RecvFlags::empty()).expect("an answer");
                self.head.extend_from_slice(&buffer[..count]);
                self.left = self.read_head();
                count
            }
        };
        assert!(count > 0, "a reader was cut off");
        if self.left != Some(0) {
            return (count as u64, None);
        }
        let took = self.asked_at.elapsed();
        self.ask();
        (count as u64, Some(took))
    }

    /// What is to come after the head, once that is there with the cursor.
    fn read_head(&mut self) -> Option<usize> {
        let text = String::from_utf8_lossy(&self.head);
        let (head, body) = text.split_once("\r\n\r\n")?;
        assert!(head.contains(" 200 "), "{head}");
        let (_, rest) = body.split_once("\"next_cursor\":")?;
        let (cursor, _) = rest.split_once(',')?;
        let length = head.split_once("content-length: ")?.1.split("\r\n").next()?;
        let length: usize = length.parse().expect("a length");
        self.cursor = (cursor != "null").then(|| cursor.trim_matches('"').to_owned());
        Some(length - (self.head.len() - head.len() - 4))
    }
}
