//! Ten thousand flows that are forged to be held, through a switch, in a process of its own: its memory is measured.

#![expect(clippy::disallowed_methods, reason = "tests compare with files, tools and the kernel")]

#[path = "../it/bench.rs"]
#[expect(dead_code, reason = "the other tests need the rest of it")]
mod bench;

use std::time::Duration;

use braid_edge_protocol::extension::Extension;
use braid_openflow::{Action, Bucket, GroupId, GroupType};
use braid_packet::{TcpFlags, build};
use braid_spray::{HoldTime, Settings};
use braid_switch::Packet;
use braid_types::{FiveTuple, PortNo, Time};

use bench::{Bench, output, tuple};

const FLOWS: u32 = 10_000;
const PACKETS: u32 = 400_000;
const CAP: u64 = 8 << 20;
const HOLD: Duration = Duration::from_millis(20);
/// As long as the buffers are in which an edge takes frames.
const BUFFER: usize = 1_600;

fn far() -> Bench {
    let mut bench = Bench::new();
    bench.group(1, GroupType::Indirect, &[Bucket::new(&[output(4)])]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    let settings = Settings { bytes: CAP, hold: HoldTime::Fixed(HOLD), ..Settings::default() };
    bench.extend(&Extension::SetResequence { group: GroupId(1), settings: Some(settings) });
    bench
}

/// Bytes of memory that the process has.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

fn frame(flow: FiveTuple, seq: u32, length: usize) -> Packet {
    let data = build::tcp(flow).flags(TcpFlags::ACK).numbers(seq, 1).payload(&[1; 1_400][..length]).frame();
    let mut buffer = Vec::with_capacity(BUFFER);
    buffer.extend(data);
    Packet::complete(buffer)
}

/// A flow of a stranger: tiny segments, far ahead of each other and never what is expected.
fn forged(step: u32) -> Packet {
    let number = step.wrapping_mul(0x9e37_79b9) % FLOWS;
    let honest = tuple("10.0.0.1", "10.0.0.2");
    let flow = FiveTuple { src: std::net::Ipv4Addr::from_bits(0x0b00_0000 + number).into(), ..honest };
    let far = [1_000, 60_000, 15_000_000, 1 << 31][step as usize % 4];
    frame(flow, step.wrapping_mul(far), 1 + step as usize % 3)
}

/// The honest flow's next packets: of each four the third comes before the second, by the other path.
fn honest(step: u32) -> Packet {
    let order = [0, 2, 1, 3][step as usize % 4];
    frame(tuple("10.0.0.1", "10.0.0.2"), (step / 4 * 4 + order) * 1_400, 1_400)
}

/// The sequence numbers of the honest flow among what leaves.
fn honest_among(leaves: Vec<(u32, Vec<u8>)>) -> impl Iterator<Item = u32> {
    let honest = |data: &Vec<u8>| data[26..30] == [10, 0, 0, 1];
    let seq = |data: Vec<u8>| u32::from_be_bytes(data[38..42].try_into().unwrap());
    leaves.into_iter().map(|(_, data)| data).filter(honest).map(seq)
}

#[test]
fn forged_flows_take_no_more_than_the_cap_and_stall_nobody() {
    let mut bench = far();
    let before = resident();
    let (mut most, mut sent) = (0, 0_u32);
    let pass = |bench: &mut Bench, port: u32, packet: Packet| {
        bench.switch.handle_packet(bench.now, PortNo(port), packet);
        honest_among(bench.leaves())
    };
    let mut passed = Vec::new();
    for step in 0..PACKETS {
        bench.now = Time::from_nanos(u64::from(step) * 500 + 1_000_000);
        passed.extend(pass(&mut bench, 2, forged(step)));
        if step % 20 == 0 {
            passed.extend(pass(&mut bench, 2 + sent % 4 % 3 % 2, honest(sent)));
            sent += 1;
        }
        if bench.switch.poll_timeout() <= bench.now {
            bench.switch.handle_timeout(bench.now);
            passed.extend(honest_among(bench.leaves()));
        }
        if step % 4_096 == 0 {
            most = most.max(resident());
        }
    }
    bench.switch.handle_timeout(bench.now + HOLD);
    passed.extend(honest_among(bench.leaves()));
    let wanted: Vec<u32> = (0..sent).map(|number| number * 1_400).collect();
    let apart = passed.iter().zip(&wanted).position(|(passed, wanted)| passed != wanted);
    assert_eq!((apart, passed.len()), (None, wanted.len()), "the honest flow is whole and in order");
    // What it holds, what it knows of flows, and what the process itself takes meanwhile.
    let allowed = CAP + u64::from(FLOWS) * 1_024 + (8 << 20);
    let grown = most.saturating_sub(before);
    assert!(grown <= allowed, "{grown} bytes of memory are more than {allowed}");
    println!("{FLOWS} forged flows, {PACKETS} packets: {} KiB of memory, cap {} KiB", grown >> 10, CAP >> 10);
}
