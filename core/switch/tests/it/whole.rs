//! A long transfer through two switches and two paths that delay, lose, reorder and double what passes: it arrives whole, and
//! nothing waits for longer than it may. `BRAID_TEST_MIB` says how long; `tests/edge/robust.py` runs it with 1 GiB.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use braid_edge_protocol::extension::Extension;
use braid_link_model::{Delay, OneWay, Parameters, Probability};
use braid_openflow::{Action, Bucket, GroupId, GroupType};
use braid_packet::{TcpFlags, build};
use braid_spray::{HoldTime, Policy, Settings};
use braid_types::{PortNo, SplitMix64, Time};
use sha2::{Digest, Sha256};

use crate::bench::{Bench, output, tuple};

const SEGMENT: usize = 1_400;
const WINDOW: usize = 400;
const TICK: Duration = Duration::from_micros(250);
const TIMEOUT: Duration = Duration::from_millis(150);
const HOLD: Duration = Duration::from_millis(60);
/// Sequence numbers wrap early on.
const START: u32 = u32::MAX - 1_000_000;

struct Transfer {
    now: Time,
    near: Bench,
    far: Bench,
    paths: [OneWay<Vec<u8>>; 2],
    sender: Sender,
    receiver: Receiver,
    random: u64,
}

/// Sends each segment until it has arrived; it hears at once of what has.
struct Sender {
    segments: usize,
    next: usize,
    outstanding: VecDeque<(usize, Time)>,
    frames: u32,
    again: u64,
    hash: Sha256,
}

#[derive(Default)]
struct Receiver {
    arrived: Vec<bool>,
    ahead: BTreeMap<usize, Vec<u8>>,
    next: usize,
    hash: Sha256,
    /// When each frame came to the far edge.
    came: HashMap<u32, Time>,
    longest: Duration,
}

impl Transfer {
    fn new(mib: usize) -> Self {
        let path = |millis: u64, jitter: u64, loss: f64, seed: u64| {
            let share = |share| Probability::new(share).unwrap();
            let (delay, jitter) = (Delay::from_millis(millis), Delay::from_millis(jitter));
            let (loss, reorder) = (share(loss), share(0.002));
            OneWay::new(Parameters { delay, jitter, loss, reorder, ..Parameters::default() }, seed)
        };
        let segments = (mib << 20) / SEGMENT;
        let (outstanding, hash) = (VecDeque::new(), Sha256::new());
        Self {
            now: Time::from_millis(10),
            near: near(),
            far: far(),
            paths: [path(5, 2, 0.004, 1), path(25, 10, 0.01, 2)],
            sender: Sender { segments, next: 0, outstanding, frames: 0, again: 0, hash },
            receiver: Receiver { arrived: vec![false; segments], ..Receiver::default() },
            random: 7,
        }
    }

    fn run(&mut self) {
        let mut tick = self.now;
        while self.receiver.next < self.sender.segments {
            let events = self.paths.iter().filter_map(OneWay::next_event);
            let next = events.chain([tick, self.far.switch.poll_timeout()]).min().unwrap();
            self.now = next.max(self.now);
            (self.near.now, self.far.now) = (self.now, self.now);
            self.arrive();
            if self.far.switch.poll_timeout() <= self.now {
                self.far.switch.handle_timeout(self.now);
                let leaves = self.far.leaves();
                self.receiver.take(self.now, leaves);
            }
            if tick <= self.now {
                tick = self.now + TICK;
                self.send();
            }
        }
    }

    fn arrive(&mut self) {
        for (path, port) in [2, 3].into_iter().enumerate() {
            while let Some(frame) = self.paths[path].poll_arrival(self.now) {
                self.receiver.came.insert(number(&frame), self.now);
                let leaves = self.far.passes(port, &frame);
                self.receiver.take(self.now, leaves);
            }
        }
    }

    fn send(&mut self) {
        let (sender, arrived) = (&mut self.sender, &self.receiver.arrived);
        sender.outstanding.retain(|(index, _)| !arrived[*index]);
        let now = self.now;
        let late: Vec<_> = sender
            .outstanding
            .iter_mut()
            .filter(|(_, sent)| now.since(*sent) > TIMEOUT)
            .map(|it| {
                it.1 = now;
                it.0
            })
            .collect();
        sender.again += late.len() as u64;
        late.into_iter().for_each(|index| self.send_segment(index));
        while self.sender.outstanding.len() < WINDOW && self.sender.next < self.sender.segments {
            let index = self.sender.next;
            self.sender.next += 1;
            self.sender.outstanding.push_back((index, now));
            self.sender.hash.update(content(index));
            self.send_segment(index);
        }
    }

    fn send_segment(&mut self, index: usize) {
        let frame = self.sender.frame(index);
        for (port, frame) in self.near.passes(1, &frame) {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let path = &mut self.paths[port as usize - 2];
            path.offer(self.now, frame.len() as u32, || frame.clone());
            if self.random >> 57 == 0 {
                self.sender.frames += 1;
                let mut again = frame;
                again[58..62].copy_from_slice(&self.sender.frames.to_be_bytes());
                path.offer(self.now, again.len() as u32, || again.clone());
            }
        }
    }
}

impl Sender {
    fn frame(&mut self, index: usize) -> Vec<u8> {
        self.frames += 1;
        let mut options = [1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0];
        options[4..8].copy_from_slice(&self.frames.to_be_bytes());
        let seq = START.wrapping_add((index * SEGMENT) as u32);
        let frame = build::tcp(tuple("10.0.0.1", "10.0.0.2")).flags(TcpFlags::ACK).numbers(seq, 1);
        frame.options(&options).payload(&content(index)).frame()
    }
}

impl Receiver {
    fn take(&mut self, now: Time, leaves: Vec<(u32, Vec<u8>)>) {
        for (port, frame) in leaves {
            assert_eq!(port, 1);
            let waited = now.since(self.came.remove(&number(&frame)).expect("it came"));
            self.longest = self.longest.max(waited);
            let seq = u32::from_be_bytes(frame[38..42].try_into().unwrap());
            let index = self.index(seq);
            if !std::mem::replace(&mut self.arrived[index], true) {
                self.ahead.insert(index, frame[66..].to_vec());
            }
        }
        while let Some(data) = self.ahead.remove(&self.next) {
            self.hash.update(data);
            self.next += 1;
        }
    }

    /// Sequence numbers identify a segment near the expected one.
    fn index(&self, seq: u32) -> usize {
        let wanted = START.wrapping_add((self.next * SEGMENT) as u32);
        let ahead = i64::from(seq.wrapping_sub(wanted).cast_signed());
        usize::try_from(self.next as i64 + ahead / SEGMENT as i64).unwrap()
    }
}

fn content(index: usize) -> [u8; SEGMENT] {
    let mut random = SplitMix64::new(index as u64);
    let mut data = [0; SEGMENT];
    for chunk in data.chunks_mut(8) {
        chunk.copy_from_slice(&random.next_u64().to_be_bytes()[..chunk.len()]);
    }
    data
}

fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[58..62].try_into().unwrap())
}

fn near() -> Bench {
    let mut bench = Bench::new();
    let outputs = [[output(2)], [output(3)]];
    let buckets =
        [0, 1].map(|path| Bucket { weight: 1, watch_port: PortNo::ANY, ..Bucket::new(&outputs[path]) });
    bench.group(1, GroupType::Select, &buckets);
    bench.all_do(&[Action::Group(GroupId(1))]);
    bench.extend(&Extension::SetSpray { group: GroupId(1), policy: Policy::Weighted { burst: 3_000 } });
    bench
}

fn far() -> Bench {
    let mut bench = Bench::new();
    bench.group(1, GroupType::Indirect, &[Bucket::new(&[output(1)])]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    let hold = HoldTime::Measured { least: Duration::from_millis(5), most: HOLD };
    let settings = Settings { hold, ..Settings::default() };
    bench.extend(&Extension::SetResequence { group: GroupId(1), settings: Some(settings) });
    bench
}

#[test]
fn a_transfer_over_paths_that_do_everything_to_it_arrives_whole_and_in_time() {
    let mib = std::env::var("BRAID_TEST_MIB").ok().and_then(|it| it.parse().ok()).unwrap_or(12);
    let mut transfer = Transfer::new(mib);
    transfer.run();
    let (sent, received) = (transfer.sender.hash.finalize(), transfer.receiver.hash.finalize());
    assert_eq!(sent, received);
    let longest = transfer.receiver.longest;
    assert!(longest <= HOLD + Duration::from_millis(2), "{longest:?}");
    assert!(transfer.sender.again > 0 && longest > Duration::from_millis(5), "nothing was done to it");
    println!(
        "{mib} MiB in {:.1} s: SHA-256 equal, {} frames, {} segments again, the longest wait {longest:?}",
        transfer.now.since(Time::ZERO).as_secs_f64(),
        transfer.sender.frames,
        transfer.sender.again,
    );
}
