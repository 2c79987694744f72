//! A copy of a number of bytes over one connection, hashed at both ends, with sockets in the hosts' namespaces.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use braid_types::SplitMix64;
use sha2::{Digest, Sha256};
use socket2::{Domain, Protocol, Socket, Type};

use super::super::report::{Delivery, Interval};
use crate::error::LabError;
use crate::scenario::{Direction, Mode};
use crate::system::Namespace;

/// The timeout of socket calls, after which the stop flag is checked.
const SOCKET_TIMEOUT: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_millis(2);
const CHUNK_BYTES: usize = 1 << 16;

/// A running copy, which stops when this is dropped.
pub(super) struct Copy {
    bytes: u64,
    port: u16,
    shared: Arc<Shared>,
    sender: JoinHandle<io::Result<String>>,
    receiver: JoinHandle<io::Result<Received>>,
    /// Samples: seconds since the start, and received bytes.
    samples: Vec<(f64, u64)>,
}

/// The result of a copy.
pub(super) struct Outcome {
    pub goodput_bps: f64,
    pub seconds: f64,
    pub intervals: Vec<Interval>,
    pub delivery: Delivery,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    received: AtomicU64,
}

struct Received {
    sha256: String,
    seconds: f64,
    longest_stall: f64,
}

impl Copy {
    /// Connects from one host to the other and starts to send.
    pub(super) fn start(
        mode: Mode,
        direction: &Direction,
        [from, to]: [&Namespace; 2],
        port: u16,
        bytes: u64,
    ) -> Result<Self, LabError> {
        let failed = |error| LabError::io("opening a connection", error);
        let listener = to.run(|| listen(mode, direction, port).map_err(failed))?;
        let connected = from.run(|| connect(mode, direction, port).map_err(failed))?;
        let port = connected.local_addr().map_err(failed)?.port();
        let shared = Arc::new(Shared::default());
        let (sending, receiving) = (Arc::clone(&shared), Arc::clone(&shared));
        let sender = thread::spawn(move || send(&connected, bytes, &sending.stop));
        let receiver = thread::spawn(move || receive(&accept(&listener, &receiving.stop)?, &receiving));
        Ok(Self { bytes, port, shared, sender, receiver, samples: vec![(0.0, 0)] })
    }

    /// The sender's port.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Takes a sample at this time after the start.
    pub(super) fn sample(&mut self, elapsed: Duration) {
        self.samples.push((elapsed.as_secs_f64(), self.shared.received.load(Ordering::Relaxed)));
    }

    /// Whether both ends have finished.
    pub(super) fn is_finished(&self) -> bool {
        self.sender.is_finished() && self.receiver.is_finished()
    }

    /// Stops the copy if it still runs. Returns its result.
    pub(super) fn finish(self) -> Result<Outcome, String> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let sha256_sent = join(self.sender).map_err(|error| format!("the sender: {error}"))?;
        let received = join(self.receiver).map_err(|error| format!("the receiver: {error}"))?;
        let Received { sha256, seconds, longest_stall } = received;
        let bytes_received = self.shared.received.load(Ordering::Relaxed);
        let delivery = Delivery {
            bytes: self.bytes,
            bytes_received,
            intact: bytes_received == self.bytes && sha256 == sha256_sent,
            sha256_sent,
            sha256_received: sha256,
            longest_stall,
        };
        let goodput_bps = bytes_received as f64 * 8.0 / seconds.max(1e-3);
        Ok(Outcome { goodput_bps, seconds, intervals: intervals(&self.samples), delivery })
    }
}

fn intervals(samples: &[(f64, u64)]) -> Vec<Interval> {
    let pairs = samples.iter().zip(samples.iter().skip(1));
    let interval = |((start, before), (end, after)): (&(f64, u64), &(f64, u64))| Interval {
        start: *start,
        end: *end,
        bps: after.saturating_sub(*before) as f64 * 8.0 / (end - start).max(1e-3),
    };
    pairs.map(interval).collect()
}

fn join<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn socket(mode: Mode, direction: &Direction) -> io::Result<Socket> {
    let protocol = match mode {
        Mode::Tcp | Mode::Udp | Mode::Quic => Protocol::TCP,
        Mode::Mptcp => Protocol::MPTCP,
    };
    let domain = if direction.source.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    Socket::new(domain, Type::STREAM, Some(protocol))
}

// On every address, since subflows also arrive at announced addresses.
fn listen(mode: Mode, direction: &Direction, port: u16) -> io::Result<TcpListener> {
    let socket = socket(mode, direction)?;
    let any =
        if direction.source.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::new(any, port).into())?;
    socket.listen(8)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn connect(mode: Mode, direction: &Direction, port: u16) -> io::Result<TcpStream> {
    let socket = socket(mode, direction)?;
    socket.bind(&SocketAddr::new(direction.source, 0).into())?;
    socket.connect(&SocketAddr::new(direction.destination, port).into())?;
    Ok(socket.into())
}

fn accept(listener: &TcpListener, stop: &AtomicBool) -> io::Result<TcpStream> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock && !stop.load(Ordering::Relaxed) => {
                thread::sleep(POLL_INTERVAL);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sends `bytes` and waits until the other end has all of them. Returns the hash.
fn send(stream: &TcpStream, bytes: u64, stop: &AtomicBool) -> io::Result<String> {
    let mut hash = Sha256::new();
    match send_all(stream, bytes, stop, &mut hash) {
        // The receiver may then close its socket at any time.
        Err(_) if stop.load(Ordering::Relaxed) => {}
        result => result?,
    }
    Ok(hex(hash))
}

fn send_all(mut stream: &TcpStream, bytes: u64, stop: &AtomicBool, hash: &mut Sha256) -> io::Result<()> {
    stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
    stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
    let (mut left, mut chunk) = (bytes, Chunk::new());
    while left > 0 && !stop.load(Ordering::Relaxed) {
        let wanted = chunk.rest().len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let written = unless_blocked(stream.write(&chunk.rest()[..wanted]))?;
        hash.update(&chunk.rest()[..written]);
        chunk.advance(written);
        left = left.saturating_sub(written as u64);
    }
    stream.shutdown(Shutdown::Write)?;
    let mut nothing = [0; 1];
    while !stop.load(Ordering::Relaxed) && !is_end(stream.read(&mut nothing))? {}
    Ok(())
}

fn receive(mut stream: &TcpStream, shared: &Shared) -> io::Result<Received> {
    stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
    let start = Instant::now();
    let (mut last, mut longest) = (start, Duration::ZERO);
    while !shared.stop.load(Ordering::Relaxed) {
        let read = stream.read(&mut chunk);
        longest = longest.max(last.elapsed());
        match read {
            Ok(0) => break,
            Ok(count) => {
                hash.update(&chunk[..count]);
                shared.received.fetch_add(count as u64, Ordering::Relaxed);
                last = Instant::now();
            }
            Err(error) => drop(unless_blocked(Err(error))?),
        }
    }
    let seconds = last.duration_since(start).as_secs_f64();
    Ok(Received { sha256: hex(hash), seconds, longest_stall: longest.as_secs_f64() })
}

/// The result of a call, or 0 after a timeout.
fn unless_blocked(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
        other => other,
    }
}

fn is_end(read: io::Result<usize>) -> io::Result<bool> {
    match read {
        Ok(count) => Ok(count == 0),
        Err(error) => unless_blocked(Err(error)).map(|_| false),
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The data: bytes that differ at every offset, so that misplaced data is detected.
struct Chunk {
    bytes: Vec<u8>,
    at: usize,
    random: SplitMix64,
}

impl Chunk {
    fn new() -> Self {
        let mut chunk = Self { bytes: vec![0; CHUNK_BYTES], at: 0, random: SplitMix64::new(0) };
        chunk.fill();
        chunk
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at >= self.bytes.len() {
            self.fill();
        }
    }

    fn fill(&mut self) {
        self.at = 0;
        for word in self.bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&self.random.next_u64().to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::OwnSettings;

    fn here() -> Direction {
        let address = Ipv4Addr::LOCALHOST.into();
        Direction { from: 0, to: 1, source: address, destination: address, own: OwnSettings::default() }
    }

    /// A copy over loopback whose data passes through `between`.
    fn copied(bytes: u64, between: impl FnOnce(TcpStream, TcpStream) + Send + 'static) -> Outcome {
        let listener = listen(Mode::Tcp, &here(), 0).unwrap();
        let middle = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, end) = (middle.local_addr().unwrap().port(), listener.local_addr().unwrap().port());
        let connected = connect(Mode::Tcp, &here(), port).unwrap();
        thread::spawn(move || between(middle.accept().unwrap().0, connect(Mode::Tcp, &here(), end).unwrap()));
        let shared = Arc::new(Shared::default());
        let (sending, receiving) = (Arc::clone(&shared), Arc::clone(&shared));
        let sender = thread::spawn(move || send(&connected, bytes, &sending.stop));
        let receiver = thread::spawn(move || receive(&accept(&listener, &receiving.stop)?, &receiving));
        let copy = Copy { bytes, port, shared, sender, receiver, samples: vec![(0.0, 0)] };
        while !copy.is_finished() {
            thread::sleep(POLL_INTERVAL);
        }
        copy.finish().unwrap()
    }

    #[test]
    fn what_arrives_whole_is_intact() {
        let outcome = copied(300_001, |mut from, mut to| {
            io::copy(&mut from, &mut to).unwrap();
        });
        assert!(outcome.delivery.intact);
        assert_eq!(outcome.delivery.bytes_received, 300_001);
        assert_ne!(outcome.delivery.sha256_sent, hex(Sha256::new()));
    }

    #[test]
    fn one_bit_that_changed_or_one_byte_that_is_missing_is_noticed() {
        let flipped = copied(300_001, |mut from, mut to| {
            let mut all = Vec::new();
            from.read_to_end(&mut all).unwrap();
            all[200_000] ^= 1;
            to.write_all(&all).unwrap();
        });
        assert!(!flipped.delivery.intact && flipped.delivery.bytes_received == 300_001);
        let short = copied(300_001, |mut from, mut to| {
            let mut all = Vec::new();
            from.read_to_end(&mut all).unwrap();
            to.write_all(&all[1..]).unwrap();
        });
        assert!(!short.delivery.intact && short.delivery.bytes_received == 300_000);
    }

    #[test]
    fn a_copy_does_not_repeat_itself() {
        let mut chunk = Chunk::new();
        let first = chunk.rest().to_vec();
        chunk.advance(CHUNK_BYTES);
        assert_ne!(first, chunk.rest());
    }
}
