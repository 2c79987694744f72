//! One flow that is sprayed over two links of the link model and resequenced, packet by packet.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use braid_link_model::{Change, Delay, OneWay, Parameters, Probability, QueueLimit};
use braid_spray::{
    Fate, Feedback, HoldTime, PathId, PathWeight, Policy, Probe, ProbeSettings, Resequencer, Scheduler,
    Segment, SegmentCounts, SeqNo, Settings,
};
use braid_types::{BitsPerSec, FiveTuple, Time};

use super::sender::{Control, Sender};
use crate::common::flow;

const STEP: Duration = Duration::from_micros(250);
const FRAME: u32 = 1_514;
const PAYLOAD: u32 = 1_448;

enum Frame {
    Data(u32),
    Probe { number: u32, sent: u32 },
    Other,
}

/// A path, the counts of both edges, and what others send by it.
struct Pipe {
    link: OneWay<Frame>,
    delay: Duration,
    sent: u32,
    came: u32,
    others: f64,
    owed: f64,
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) feedback: Feedback,
    scheduler: Scheduler,
    pipes: Vec<Pipe>,
    buffer: Resequencer<u32>,
    flow: FiveTuple,
    sender: Sender,
    acknowledgements: VecDeque<(Time, u32)>,
    answers: Vec<(Time, usize, u32, i64, SegmentCounts)>,
    beyond: BTreeSet<u32>,
    /// Segments that the application has.
    pub(crate) received: u32,
}

/// What a path of the world is like.
pub(crate) fn path(mbits: u64, millis: u64, queue: u64, loss: f64) -> Parameters {
    Parameters {
        rate: Some(BitsPerSec(mbits * 1_000_000)),
        delay: Delay::from_millis(millis),
        queue: QueueLimit::Bytes(queue),
        loss: Probability::new(loss).unwrap(),
        ..Parameters::default()
    }
}

impl World {
    pub(crate) fn new(control: Control, paths: &[Parameters]) -> Self {
        let pipe = |(seed, parameters): (u64, &Parameters)| Pipe {
            link: OneWay::new(*parameters, seed),
            delay: parameters.delay.duration(),
            sent: 0,
            came: 0,
            others: 0.0,
            owed: 0.0,
        };
        let weights = vec![PathWeight { weight: 1, ..PathWeight::default() }; paths.len()];
        let most = Duration::from_millis(250);
        let hold = HoldTime::Measured { least: Duration::from_millis(5), most };
        let settings = Settings { hold, paths: paths.len() as u8, ..Settings::default() };
        Self {
            now: Time::ZERO,
            feedback: Feedback::new(Time::ZERO, ProbeSettings::default(), &vec![1; paths.len()]),
            scheduler: Scheduler::new(Policy::Weighted { burst: 1_250 }, &weights),
            pipes: (1..).zip(paths).map(pipe).collect(),
            buffer: Resequencer::new(settings, 1),
            flow: flow(1),
            sender: Sender::new(control),
            acknowledgements: VecDeque::new(),
            answers: Vec::new(),
            beyond: BTreeSet::new(),
            received: 0,
        }
    }

    /// Others send so much by a path from now on, whatever is lost of it.
    pub(crate) fn join(&mut self, path: usize, mbits: f64) {
        self.pipes[path].others = mbits * 1e6;
    }

    /// A path carries so much from now on.
    pub(crate) fn narrow(&mut self, path: usize, mbits: u64) {
        let change = Change { rate: Some(BitsPerSec(mbits * 1_000_000)), ..Change::default() };
        self.pipes[path].link.change(self.now, &change).unwrap();
    }

    /// How much the application gets in `duration`, in Mbit/s.
    pub(crate) fn goodput(&mut self, duration: Duration) -> f64 {
        let (before, end) = (self.received, self.now + duration);
        while self.now < end {
            self.step();
        }
        f64::from(self.received - before) * f64::from(PAYLOAD) * 8e-6 / duration.as_secs_f64()
    }

    /// The share of all packets that a path is given.
    pub(crate) fn share(&self, path: usize) -> f64 {
        let total: u32 = self.scheduler.paths().iter().map(|it| it.weight).sum();
        f64::from(self.scheduler.paths()[path].weight) / f64::from(total)
    }

    fn step(&mut self) {
        self.now = self.now + STEP;
        self.others();
        self.send();
        self.probe();
        self.arrive();
        self.release();
        self.answer();
    }

    fn others(&mut self) {
        for pipe in &mut self.pipes {
            pipe.owed += pipe.others * STEP.as_secs_f64();
            while pipe.owed > 0.0 {
                pipe.link.offer(self.now, FRAME, || Frame::Other);
                pipe.owed -= f64::from(FRAME * 8);
            }
        }
    }

    fn send(&mut self) {
        self.sender.pace(STEP);
        while let Some(number) = self.sender.poll(self.now) {
            let path = self.scheduler.pick(self.now, FRAME).expect("a path");
            self.pipes[path].sent += 1;
            self.pipes[path].link.offer(self.now, FRAME, || Frame::Data(number));
        }
    }

    fn probe(&mut self) {
        while let Some(Probe { path, number }) = self.feedback.poll_probe(self.now) {
            let pipe = &mut self.pipes[path];
            let sent = pipe.sent;
            pipe.link.offer(self.now, 78, || Frame::Probe { number, sent });
        }
    }

    fn arrive(&mut self) {
        for path in 0..self.pipes.len() {
            while let Some(frame) = self.pipes[path].link.poll_arrival(self.now) {
                self.take(path, &frame);
            }
        }
    }

    fn take(&mut self, path: usize, frame: &Frame) {
        let pipe = &mut self.pipes[path];
        match *frame {
            Frame::Other => {}
            Frame::Probe { number, sent } => {
                let (back, arrived) = (self.now + pipe.delay, self.now.as_nanos() as i64);
                let counts = SegmentCounts { sent, received: pipe.came };
                self.answers.push((back, path, number, arrived, counts));
                self.buffer.note_probe(self.now, PathId(path as u8), number, counts);
            }
            Frame::Data(number) => {
                pipe.came += 1;
                let segment =
                    Segment { seq: SeqNo(number * PAYLOAD), payload: PAYLOAD, ..Segment::default() };
                let path = PathId(path as u8);
                let fate = self.buffer.offer(self.now, &self.flow, segment, path, FRAME, || number);
                if fate == Fate::Forward {
                    self.deliver(number);
                }
            }
        }
    }

    fn release(&mut self) {
        self.buffer.handle_timeout(self.now);
        while let Some(number) = self.buffer.poll_packet() {
            self.deliver(number);
        }
    }

    /// To the host, which acknowledges by the first path.
    fn deliver(&mut self, number: u32) {
        self.acknowledgements.push_back((self.now + self.pipes[0].delay, number));
        if number >= self.received {
            self.beyond.insert(number);
        }
        while self.beyond.remove(&self.received) {
            self.received += 1;
        }
    }

    fn answer(&mut self) {
        let now = self.now;
        while let Some((_, number)) = self.acknowledgements.pop_front_if(|(at, _)| *at <= now) {
            self.sender.acknowledge(now, number);
        }
        for (_, path, number, arrived, tally) in self.answers.extract_if(.., |(at, ..)| *at <= now) {
            self.feedback.handle_answer(now, path, number, arrived, Some(tally));
        }
        let Some(shares) = self.feedback.poll_shares() else { return };
        for (path, weight) in shares.into_iter().enumerate() {
            self.scheduler.set(path, PathWeight { weight, ..PathWeight::default() });
        }
    }
}
