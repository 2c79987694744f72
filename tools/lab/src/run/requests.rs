//! Small requests, as of DNS and SSH, that are asked on schedule before and during transfers, and how long their answers take.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::{Protocol, Requests, Traffic};
use crate::system::Namespace;

/// One request this often, whether or not the last one was answered.
const INTERVAL: Duration = Duration::from_millis(10);
/// The bytes of a request, and of its answer.
const LENGTH: usize = 60;
/// An answer that takes longer counts as one that took so long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long is asked before the transfers, on a network without other traffic.
const IDLE_TIME: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How long answers to requests took.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RequestRow {
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
    /// TCP or UDP.
    pub protocol: Protocol,
    /// The port that is asked.
    pub port: u16,
    /// Before the transfers.
    pub idle: ResponseTimes,
    /// While all transfers are measured.
    pub loaded: ResponseTimes,
}

/// How long answers took, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResponseTimes {
    /// Half of them took less.
    pub median_ms: f64,
    /// 99 % of them took less.
    pub p99_ms: f64,
}

/// Requests that go on until this is finished or dropped.
pub(super) struct RequestLoad {
    running: Vec<Running>,
    stop: Stop,
}

struct Running {
    client: JoinHandle<io::Result<Vec<Answered>>>,
    server: JoinHandle<io::Result<()>>,
}

/// Servers go on until the clients have their last answers.
#[derive(Clone, Default)]
struct Stop {
    clients: Arc<AtomicBool>,
    servers: Arc<AtomicBool>,
}

/// A request: when it was sent, and how long its answer took.
struct Answered {
    at: Instant,
    took: Duration,
}

impl RequestLoad {
    /// Starts to ask.
    pub(super) fn start(lab: &Deployment, traffic: &Traffic) -> Result<Self, LabError> {
        let mut load = Self { running: Vec::new(), stop: Stop::default() };
        for requests in &traffic.requests {
            let running = start(lab, requests, load.stop.clone())?;
            load.running.push(running);
        }
        Ok(load)
    }

    /// Ends, and says how long the answers took to requests that were sent in this time; nothing of those that sent none then.
    pub(super) fn finish(mut self, time: Range<Instant>) -> Result<Vec<Option<ResponseTimes>>, LabError> {
        self.stop.clients.store(true, Ordering::Relaxed);
        let failed = |error| LabError::io("load requests", error);
        let (mut asked, mut servers) = (Vec::new(), Vec::new());
        for Running { client, server } in std::mem::take(&mut self.running) {
            asked.push(ended(client).map_err(failed)?);
            servers.push(server);
        }
        // Their ports are free when this returns. What a server could not answer, its client has waited for in vain.
        self.stop.servers.store(true, Ordering::Relaxed);
        servers.into_iter().for_each(|server| drop(ended(server)));
        Ok(asked.iter().map(|asked| response_times(asked, &time)).collect())
    }
}

impl Drop for RequestLoad {
    fn drop(&mut self) {
        self.stop.clients.store(true, Ordering::Relaxed);
        self.stop.servers.store(true, Ordering::Relaxed);
    }
}

/// How long answers take while nothing else is sent.
pub(super) fn idle(
    lab: &Deployment,
    traffic: &Traffic,
    interrupt: &Interrupt,
) -> Result<Vec<Option<ResponseTimes>>, LabError> {
    if traffic.requests.is_empty() {
        return Ok(Vec::new());
    }
    let load = RequestLoad::start(lab, traffic)?;
    let start = Instant::now();
    interrupt.poll(IDLE_TIME, || Ok(None::<()>))?;
    load.finish(start..start + IDLE_TIME)
}

/// The rows of all requests that were sent while transfers were measured.
pub(super) fn rows(
    lab: &Deployment,
    traffic: &Traffic,
    idle: &[Option<ResponseTimes>],
    loaded: &[Option<ResponseTimes>],
) -> Vec<RequestRow> {
    let name = |host: usize| lab.deployed.plan.hosts[host].name.clone();
    let all = traffic.requests.iter().zip(idle.iter().zip(loaded));
    let row = |(requests, (idle, loaded)): (&Requests, (&Option<ResponseTimes>, &Option<ResponseTimes>))| {
        Some(RequestRow {
            from: name(requests.direction.from),
            to: name(requests.direction.to),
            protocol: requests.protocol,
            port: requests.port,
            idle: (*idle)?,
            loaded: (*loaded)?,
        })
    };
    all.filter_map(row).collect()
}

/// What a thread has found out.
fn ended<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn start(lab: &Deployment, requests: &Requests, stop: Stop) -> Result<Running, LabError> {
    let namespace = |host: usize| Namespace::named(&lab.deployed.plan.hosts[host].namespace);
    let (from, to) = (namespace(requests.direction.from), namespace(requests.direction.to));
    let at = SocketAddr::new(requests.direction.destination, requests.port);
    let failed = |error| LabError::io(format!("requests to {at}"), error);
    match requests.protocol {
        Protocol::Udp => {
            let server = to.run(|| UdpSocket::bind(at).map_err(failed))?;
            let client = from.run(|| connect_udp(requests.direction.source, at).map_err(failed))?;
            let server = thread::spawn(move || echo_datagrams(&server, &stop.servers));
            Ok(Running { client: thread::spawn(move || ask(&client, &stop.clients)), server })
        }
        Protocol::Tcp => {
            let listener = to.run(|| TcpListener::bind(at).map_err(failed))?;
            let client = from.run(|| TcpStream::connect_timeout(&at, ANSWER_TIMEOUT).map_err(failed))?;
            client.set_nodelay(true).map_err(failed)?;
            let server = thread::spawn(move || echo_stream(&listener, &stop.servers));
            Ok(Running { client: thread::spawn(move || ask(&client, &stop.clients)), server })
        }
    }
}

fn connect_udp(source: IpAddr, at: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((source, 0))?;
    socket.connect(at)?;
    Ok(socket)
}

fn echo_datagrams(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<()> {
    socket.set_read_timeout(Some(POLL_INTERVAL))?;
    let mut buffer = [0; LENGTH];
    while !stop.load(Ordering::Relaxed) {
        match socket.recv_from(&mut buffer) {
            Ok((length, sender)) => drop(socket.send_to(&buffer[..length], sender)?),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn echo_stream(listener: &TcpListener, stop: &AtomicBool) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    let mut buffer = [0; LENGTH];
    while !stop.load(Ordering::Relaxed) {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => stream.write_all(&buffer[..length])?,
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A connected socket of either protocol.
trait EchoSocket {
    fn send(&self, bytes: &[u8]) -> io::Result<()>;
    fn receive(&self, bytes: &mut [u8], timeout: Duration) -> io::Result<usize>;
}

impl EchoSocket for UdpSocket {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        UdpSocket::send(self, bytes).map(drop)
    }

    fn receive(&self, bytes: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.set_read_timeout(Some(timeout))?;
        self.recv(bytes)
    }
}

impl EchoSocket for TcpStream {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self;
        stream.write_all(bytes)
    }

    fn receive(&self, bytes: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.set_read_timeout(Some(timeout))?;
        let mut stream = self;
        stream.read(bytes)
    }
}

/// Asks on schedule until it is stopped, and then waits for the last answers.
fn ask(socket: &impl EchoSocket, stop: &AtomicBool) -> io::Result<Vec<Answered>> {
    let start = Instant::now();
    let mut sent: Vec<(Duration, Option<Duration>)> = Vec::new();
    let mut answers = Answers::default();
    while !stop.load(Ordering::Relaxed) {
        sent.push((start.elapsed(), None));
        let mut request = [0; LENGTH];
        request[..8].copy_from_slice(&(sent.len() as u64 - 1).to_be_bytes());
        socket.send(&request)?;
        let due = INTERVAL.saturating_mul(u32::try_from(sent.len()).unwrap_or(u32::MAX));
        answers.take(socket, start, due, &mut sent)?;
    }
    let last = start.elapsed() + ANSWER_TIMEOUT;
    while sent.iter().any(|(_, took)| took.is_none()) && start.elapsed() < last {
        answers.take(socket, start, start.elapsed() + INTERVAL, &mut sent)?;
    }
    Ok(sent
        .into_iter()
        .map(|(at, took)| Answered {
            at: start + at,
            took: took.unwrap_or(ANSWER_TIMEOUT).min(ANSWER_TIMEOUT),
        })
        .collect())
}

/// The bytes of answers that are not whole yet.
#[derive(Default)]
struct Answers(Vec<u8>);

impl Answers {
    /// Takes answers until this time after the start.
    fn take(
        &mut self,
        socket: &impl EchoSocket,
        start: Instant,
        until: Duration,
        sent: &mut [(Duration, Option<Duration>)],
    ) -> io::Result<()> {
        let mut buffer = [0; 16 * LENGTH];
        loop {
            let left = until.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            match socket.receive(&mut buffer, left) {
                Ok(length) => self.0.extend_from_slice(&buffer[..length]),
                Err(error) if is_timeout(&error) => continue,
                Err(error) => return Err(error),
            }
            let now = start.elapsed();
            for answer in self.0.chunks_exact(LENGTH) {
                let number = answer.iter().take(8).fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte));
                if let Some((at, took)) = sent.get_mut(number) {
                    took.get_or_insert(now.saturating_sub(*at));
                }
            }
            let whole = self.0.len() - self.0.len() % LENGTH;
            self.0.drain(..whole);
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn response_times(asked: &[Answered], time: &Range<Instant>) -> Option<ResponseTimes> {
    let mut took: Vec<_> =
        asked.iter().filter(|it| time.contains(&it.at)).map(|it| it.took.as_secs_f64() * 1e3).collect();
    took.sort_by(f64::total_cmp);
    let of =
        |percent: usize| took.get((took.len() * percent / 100).min(took.len().saturating_sub(1))).copied();
    Some(ResponseTimes { median_ms: of(50)?, p99_ms: of(99)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_both_protocols_are_taken_one_by_one() {
        // Who answers ends last, or the last request is reset.
        let (stop, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (udp, tcp) = (UdpSocket::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        let client = connect_udp([127, 0, 0, 1].into(), udp.local_addr().unwrap()).unwrap();
        let stream = TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
        let (first, second, ends) = (Arc::clone(&served), Arc::clone(&served), Arc::clone(&stop));
        thread::spawn(move || echo_datagrams(&udp, &first));
        thread::spawn(move || echo_stream(&tcp, &second));
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            ends.store(true, Ordering::Relaxed);
        });
        thread::scope(|scope| {
            let datagrams = scope.spawn(|| ask(&client, &stop).unwrap());
            let segments = ask(&stream, &stop).unwrap();
            for asked in [segments, datagrams.join().unwrap()] {
                let answered = asked.iter().filter(|it| it.took < ANSWER_TIMEOUT).count();
                assert!(answered > 0, "{}", asked.len());
            }
        });
        served.store(true, Ordering::Relaxed);
    }

    #[test]
    fn only_requests_of_the_time_count_and_those_without_an_answer_as_a_second() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let second = |at: u64, took: u64| Answered { at: after(at), took: Duration::from_millis(took) };
        let asked = [second(0, 900), second(1, 10), second(2, 30), second(3, 1_000), second(4, 900)];
        let counted = response_times(&asked, &(after(1)..after(4)));
        assert_eq!(counted, Some(ResponseTimes { median_ms: 30.0, p99_ms: 1_000.0 }));
        assert_eq!(response_times(&asked, &(after(9)..after(9))), None);
    }
}
