//! BFD with a switch at port 2: an independent end of a session, whose frames are written here as Open vSwitch writes them.

use std::time::Duration;

use braid_bfd::{ControlPacket, Session, Settings, State};
use braid_edge_protocol::extension::Extension;
use braid_openflow::{Action, Bucket, GroupId, GroupType, Instruction, List, Message};
use braid_types::{PortNo, Time};

use crate::bench::{Bench, output, tcp_v4};

const PORT: u32 = 2;
/// A MAC address that no other protocol uses.
const TO: [u8; 6] = [0, 0x23, 0x20, 0, 0, 1];
const BEFORE_BFD: usize = 42;

/// A bench, and the switch behind its port 2. A group prefers that port, and then port 3.
struct Link {
    bench: Bench,
    other: Session,
    /// Whether what the other end sends arrives, and what this end sends.
    arrives: [bool; 2],
}

impl Link {
    fn new() -> Self {
        let mut bench = Bench::new();
        let acts = [2, 3].map(|port| [output(port)]);
        let buckets =
            [2, 3].map(|port| Bucket { watch_port: PortNo(port), ..Bucket::new(&acts[port as usize - 2]) });
        bench.group(1, GroupType::Ff, &buckets);
        bench.all_do(&[Action::Group(GroupId(1))]);
        Self { bench, other: neighbour(Time::ZERO), arrives: [true; 2] }
    }

    fn up() -> Self {
        let mut link = Self::new();
        link.bench.extend(&Extension::SetBfd { port: PortNo(PORT), is_on: true });
        link.run(3_000);
        assert_eq!(link.other.state(), State::Up);
        assert_eq!(link.told(), Vec::<String>::new(), "the port was live all the time");
        link
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            let now = self.bench.now + Duration::from_millis(1);
            self.bench.now = now;
            self.other.handle_timeout(now);
            let mut left = match self.other.poll_packet(now).filter(|_| self.arrives[0]) {
                Some(packet) => self.bench.passes(PORT, &frame(&packet)),
                None => Vec::new(),
            };
            self.bench.switch.handle_timeout(now);
            left.extend(self.bench.leaves());
            for (port, frame) in left.into_iter().filter(|_| self.arrives[1]) {
                assert_eq!((port, &frame[..6]), (PORT, &TO[..]));
                let packet = ControlPacket::read(&frame[BEFORE_BFD..]).expect("well formed");
                self.other.handle_packet(now, &packet);
            }
        }
    }

    /// What controllers were told of port 2.
    fn told(&mut self) -> Vec<String> {
        let told = self.bench.heard().into_iter().map(|message| {
            assert_eq!(
                (&message["type"], &message["desc"]["port_no"]),
                (&"port_status".into(), &PORT.into())
            );
            message["desc"]["state"].to_string()
        });
        told.collect()
    }
}

/// States of a port.
const LIVE: &str = r#"["live"]"#;
const DARK: &str = "[]";
const DOWN: &str = r#"["link_down"]"#;

fn neighbour(now: Time) -> Session {
    Session::new(now, Settings { discriminator: 77, min_interval: Duration::from_millis(25), multiplier: 3 })
}

fn frame(packet: &ControlPacket) -> Vec<u8> {
    let around = [
        &TO[..],
        &[2, 0, 0, 0, 0, 9],
        &[8, 0],
        &[0x45, 0xc0, 0, 52, 0, 0, 0x40, 0, 255, 17, 0, 0],
        &[169, 254, 1, 1, 169, 254, 1, 0],
        &[0xc0, 0, 0x0e, 0xc8, 0, 32, 0, 0],
    ];
    [&around.concat()[..], &packet.bytes()].concat()
}

#[test]
fn where_no_controller_has_allowed_it_bfd_is_a_packet_like_others() {
    let mut bench = Bench::new();
    bench.all_do(&[output(3)]);
    let mut other = neighbour(Time::ZERO);
    let packet = frame(&other.poll_packet(Time::ZERO).expect("the first"));
    assert_eq!(bench.passes(PORT, &packet), [(3, packet.clone())]);
    bench.extend(&Extension::SetBfd { port: PortNo(1), is_on: true });
    assert_eq!(bench.passes(PORT, &packet), [(3, packet)], "allowed at another port");
}

#[test]
fn a_dark_link_makes_its_port_not_live_in_whichever_direction_it_is_dark() {
    for arrives in [[false, false], [false, true], [true, false]] {
        let mut link = Link::up();
        assert_eq!(link.bench.ports(1, &tcp_v4(0)), [PORT]);
        link.arrives = arrives;
        link.run(120);
        assert_eq!(link.told(), [DARK], "{arrives:?}: up, and not live");
        assert_eq!(link.bench.ports(1, &tcp_v4(0)), [3]);
        link.arrives = [true; 2];
        link.run(3_000);
        assert_eq!(link.told().last(), Some(&LIVE.to_owned()));
        assert_eq!(link.bench.ports(1, &tcp_v4(0)), [PORT]);
    }
}

#[test]
fn a_port_that_is_not_live_still_sends_what_goes_by_it_alone() {
    let mut link = Link::up();
    link.arrives = [false; 2];
    link.run(120);
    assert_eq!(link.told(), [DARK]);
    link.bench.flow(0, 9, &[], &[Instruction::ApplyActions(List::new(&[output(PORT)]))]);
    assert_eq!(link.bench.ports(1, &tcp_v4(0)), [PORT], "so that discovery frames find out that it is back");
}

#[test]
fn another_neighbour_is_not_awaited() {
    let mut link = Link::up();
    link.arrives = [false; 2];
    link.run(120);
    link.told();
    link.bench.port(PORT, false);
    link.bench.port(PORT, true);
    assert_eq!(link.told(), [DOWN, LIVE], "after its carrier was away");
    let mut link = Link::up();
    link.arrives = [false; 2];
    link.run(61_000);
    assert_eq!(link.told(), [DARK, LIVE], "after a minute");
    let mut link = Link::up();
    link.arrives = [false; 2];
    link.run(120);
    link.told();
    let off = Extension::SetBfd { port: PortNo(PORT), is_on: false };
    let body = off.body();
    let said = link.bench.say(&Message::Experimenter(off.message(&body)));
    assert_eq!(said[0]["desc"]["state"].to_string(), LIVE, "after a controller has turned it off");
}

#[test]
fn junk_for_bfd_is_dropped_and_changes_nothing() {
    let mut link = Link::up();
    let good = frame(&link.other.clone().poll_packet(link.bench.now + Duration::from_secs(1)).expect("due"));
    for place in 14..good.len() {
        let mut junk = good.clone();
        junk[place] ^= 0xff;
        let left = link.bench.passes(PORT, &junk[..]);
        assert!(left.iter().all(|(port, frame)| *port == PORT && frame[..6] == TO), "{place}: {left:?}");
    }
    for length in 14..good.len() {
        assert_eq!(link.bench.passes(PORT, &good[..length]), []);
    }
}

#[test]
fn a_port_that_does_not_exist_is_an_error() {
    let mut bench = Bench::new();
    let extension = Extension::SetBfd { port: PortNo(99), is_on: true };
    let body = extension.body();
    let said = bench.say(&Message::Experimenter(extension.message(&body)));
    assert_eq!(said.iter().map(|it| it["type"].to_string()).collect::<Vec<_>>(), [r#""error""#], "{said:?}");
}
