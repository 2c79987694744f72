//! From a SYN at the controller's socket to the rules for it, over loopback, with emulated switches.
//!
//! Prints the time with one request outstanding, and how many are answered a second with many, each as a ratio
//! to an OpenFlow echo over the same sockets, which the controller answers without deciding anything.

#[path = "../tests/it/support.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use braid_openflow::{
    Action, BufferId, Bytes, Cookie, Echo, Match, Message, OxmField, PacketIn, PacketInReason, TableId, Xid,
    frames,
};
use braid_packet::arp::Arp;
use braid_packet::{TcpFlags, build};
use braid_types::{FiveTuple, MacAddr, PortNo};
use support::{Running, Switch, wait_for};

const LINK_PORT: PortNo = PortNo(1);
const HOST_PORT: PortNo = PortNo(2);
const MP_CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];
const REQUESTS: usize = 20_000;
const OUTSTANDING: usize = 64;

fn main() {
    // `cargo test` runs benchmarks too, without this flag: there is nothing to measure then.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let controller = Running::start(None);
    let mut pair = Pair([1, 2].map(|dpid| Switch::join(controller.openflow, dpid)));
    pair.be_discovered(&controller);
    println!(
        "{REQUESTS} requests over loopback, {OUTSTANDING} outstanding for the rate; generator and controller share the machine"
    );
    let echo = encode(&Message::EchoRequest(Echo { data: Bytes(b"there?") }));
    let base = pair.measure(&vec![echo; REQUESTS], |message| matches!(message, Message::EchoReply(_)));
    base.print("echo, nothing to decide", &base);
    for (what, options, first) in
        [("SYN on its default route", &[][..], 0), ("SYN of MPTCP, two rules", &MP_CAPABLE, 1)]
    {
        let numbers = first * REQUESTS * 2..(first + 1) * REQUESTS * 2;
        let requests: Vec<_> = numbers.map(|number| packet_in(HOST_PORT, &syn(number, options))).collect();
        pair.measure_halves(&requests, lets_go).print(what, &base);
    }
}

type IsAnswer = fn(&Message<'_>) -> bool;

/// Discovery frames are sent too, but out of a port.
fn lets_go(message: &Message<'_>) -> bool {
    matches!(message, Message::PacketOut(packet) if packet.actions.iter().eq([Action::output(PortNo::TABLE)]))
}

/// What was measured of one kind of request.
struct Figures {
    p50: Duration,
    p99: Duration,
    per_second: f64,
}

impl Figures {
    fn print(&self, what: &str, base: &Self) {
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let ratio = micros(self.p50) / micros(base.p50);
        println!(
            "{what:26} p50 {:6.1} µs ({ratio:.2} x)   p99 {:6.1} µs   {:9.0} a second ({:.2} x)",
            micros(self.p50),
            micros(self.p99),
            self.per_second,
            self.per_second / base.per_second,
        );
    }
}

/// Two switches, a link between them, a host at each.
struct Pair([Switch; 2]);

impl Pair {
    /// Plays the network until the controller knows the link and the hosts.
    fn be_discovered(&mut self, controller: &Running) {
        let cell = std::cell::RefCell::new(self);
        wait_for(
            || {
                cell.borrow_mut().play();
                controller.list("links").len() == 2 && controller.list("hosts").len() == 2
            },
            || format!("without the link or the hosts: {:?}", controller.list("links")),
        );
        // The first SYN of each kind has the labels and routes installed.
        for options in [&[][..], &MP_CAPABLE] {
            let pair = &mut *cell.borrow_mut();
            pair.0[0]
                .stream
                .write_all(&packet_in(HOST_PORT, &syn(usize::MAX / 2, options)))
                .expect("open channel");
            for _ in 0..20 {
                pair.play();
            }
        }
    }

    /// Passes discovery frames on, confirms barriers, and lets the hosts announce themselves.
    fn play(&mut self) {
        for index in [0, 1] {
            let received = self.read_what_is_there(index);
            for frame in frames(&received) {
                let (xid, message) = frame.expect("whole message").decode().expect("valid message");
                match message {
                    Message::BarrierRequest => self.write(index, xid, &Message::BarrierReply),
                    Message::PacketOut(packet) if packet.actions.iter().eq([Action::output(LINK_PORT)]) => {
                        let bytes = packet_in(LINK_PORT, packet.data.0);
                        self.0[1 - index].stream.write_all(&bytes).expect("open channel");
                    }
                    _ => {}
                }
            }
            let host = index as u8 + 1;
            let IpAddr::V4(address) = ip(host) else { unreachable!() };
            let announcement = packet_in(HOST_PORT, &Arp::request(mac(host), address, address).frame());
            self.0[index].stream.write_all(&announcement).expect("open channel");
        }
        std::thread::sleep(Duration::from_millis(20));
    }

    fn write(&mut self, index: usize, xid: Xid, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(xid, &mut bytes).expect("short message");
        self.0[index].stream.write_all(&bytes).expect("open channel");
    }

    fn read_what_is_there(&mut self, index: usize) -> Vec<u8> {
        let switch = &mut self.0[index];
        switch.stream.set_nonblocking(true).expect("a socket");
        let mut bytes = vec![0; 1 << 20];
        let read = match switch.stream.read(&mut bytes) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => panic!("{error}"),
        };
        switch.stream.set_nonblocking(false).expect("a socket");
        bytes.truncate(read);
        bytes
    }

    fn measure(&mut self, requests: &[Vec<u8>], is_answer: IsAnswer) -> Figures {
        self.measure_halves(&[requests, requests].concat(), is_answer)
    }

    /// The first half of the requests one by one, the second half many at once.
    fn measure_halves(&mut self, requests: &[Vec<u8>], is_answer: IsAnswer) -> Figures {
        let (one_by_one, at_once) = requests.split_at(requests.len() / 2);
        let mut times: Vec<_> = one_by_one.iter().map(|request| self.time_one(request, is_answer)).collect();
        times.sort_unstable();
        let start = Instant::now();
        at_once.chunks(OUTSTANDING).for_each(|window| self.answer_window(window, is_answer));
        let per_second = at_once.len() as f64 / start.elapsed().as_secs_f64();
        Figures { p50: times[times.len() / 2], p99: times[times.len() * 99 / 100], per_second }
    }

    fn time_one(&mut self, request: &[u8], is_answer: IsAnswer) -> Duration {
        let start = Instant::now();
        self.answer_window(&[request.to_vec()], is_answer);
        start.elapsed()
    }

    fn answer_window(&mut self, window: &[Vec<u8>], is_answer: IsAnswer) {
        let ingress = &mut self.0[0];
        ingress.stream.write_all(&window.concat()).expect("open channel");
        let mut answers = 0;
        while answers < window.len() {
            let message = ingress.receive().expect("open channel");
            let (_, message) = Message::decode(&message).expect("valid message");
            answers += usize::from(is_answer(&message));
        }
    }
}

fn syn(number: usize, options: &[u8]) -> Vec<u8> {
    let (src_port, dst_port) = ((number % 60_000) as u16 + 1_024, (number / 60_000) as u16);
    let tuple = FiveTuple { src: ip(1), dst: ip(2), src_port, dst_port };
    build::tcp(tuple).macs(mac(1), mac(2)).flags(TcpFlags::SYN).options(options).frame()
}

fn packet_in(port: PortNo, frame: &[u8]) -> Vec<u8> {
    let fields = [OxmField::InPort(port)];
    encode(&Message::PacketIn(PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: u16::try_from(frame.len()).unwrap_or(u16::MAX),
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(0),
        matching: Match::new(&fields),
        data: Bytes(frame),
    }))
}

fn encode(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(Xid(0), &mut bytes).expect("short message");
    bytes
}

fn mac(host: u8) -> MacAddr {
    MacAddr::new([0, 0xaa, 0, 0, 0, host])
}

fn ip(host: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, host])
}
