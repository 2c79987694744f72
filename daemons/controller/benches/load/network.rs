//! Emulated switches, the links between them, and the load of their hosts.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use braid_openflow::{Bytes, Echo, Message, Xid};
use braid_types::{DatapathId, PortNo};

use crate::packets::{ADMIT, packet_in};
use crate::poller::Poller;
use crate::process::Process;
use crate::switch::{Switch, Told};

/// Nothing takes longer, or it will not come.
const PATIENCE: Duration = Duration::from_secs(10);

/// A port, by the index of its switch.
pub(crate) type End = (usize, PortNo);

pub(crate) struct Network {
    pub(crate) switches: Vec<Switch>,
    cables: BTreeMap<End, End>,
    poller: Poller,
    /// Streams in the order in which they were opened, and where.
    streams: VecDeque<(usize, u64)>,
}

/// What hosts at one switch send, as messages of one length.
pub(crate) struct Requests {
    bytes: Vec<u8>,
    length: usize,
    next: usize,
}

/// What came of a load.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) sent: u64,
    pub(crate) packets: u64,
    pub(crate) rules: u64,
    pub(crate) took: Duration,
}

/// How a load is made.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// Requests that each switch has under way.
    pub(crate) window: usize,
    /// For how long requests are sent.
    pub(crate) time: Duration,
    /// How many each switch sends at most.
    pub(crate) most: usize,
    /// Streams that are there at a time: of more, the oldest end.
    pub(crate) streams: usize,
    /// Requests a second, if not as many as are answered.
    pub(crate) rate: Option<f64>,
}

impl Load {
    /// How many more may be sent now.
    fn room(&self, elapsed: Duration, sent: u64) -> usize {
        let may = |rate: f64| ((rate * elapsed.as_secs_f64()) as u64).saturating_sub(sent) as usize;
        if elapsed < self.time { self.rate.map_or(usize::MAX, may) } else { 0 }
    }
}

impl Outcome {
    fn add(&mut self, told: &Told) {
        self.packets += told.packets;
        self.rules += told.rules.iter().sum::<u64>();
    }
}

impl Requests {
    /// # Panics
    ///
    /// If there are none, or of different lengths.
    pub(crate) fn new(messages: &[Vec<u8>]) -> Self {
        let length = messages[0].len();
        assert!(messages.iter().all(|message| message.len() == length), "of one length");
        Self { bytes: messages.concat(), length, next: 0 }
    }

    /// The next ones, as many as there are up to the last; then they begin anew.
    fn take(&mut self, count: usize) -> &[u8] {
        let start = self.next;
        let end = self.bytes.len().min(start + count * self.length);
        self.next = end % self.bytes.len();
        &self.bytes[start..end]
    }
}

impl Network {
    /// Connects switches with these ports, numbered from 1, and these links between them.
    pub(crate) fn connect(to: &Process, ports: &[Vec<PortNo>], cables: &[(End, End)]) -> Self {
        let mut poller = Poller::new();
        let connect = |(index, ports): (usize, &Vec<PortNo>)| {
            let switch = Switch::connect(to, DatapathId(index as u64 + 1), ports.clone());
            poller.add(&switch.stream, index);
            switch
        };
        let switches = ports.iter().enumerate().map(connect).collect();
        let cables = cables.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        let mut network = Self { switches, cables, poller, streams: VecDeque::new() };
        network.switches.iter_mut().for_each(Switch::flush);
        network
    }

    /// Goes on until `done`, which is asked from time to time.
    ///
    /// # Panics
    ///
    /// If it never is.
    pub(crate) fn serve_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < PATIENCE, "the controller does not go on");
            let pause = Instant::now();
            while pause.elapsed() < Duration::from_millis(50) {
                self.serve(|_, _| {});
                self.flush();
            }
        }
    }

    /// Waits until every message sent before was processed; calls `told` with what arrives meanwhile.
    fn settle(&mut self, mut told: impl FnMut(&Told)) {
        let echo = Message::EchoRequest(Echo { data: Bytes(b"done?") });
        self.switches.iter_mut().for_each(|switch| switch.say(Xid(1), &echo));
        self.flush();
        let (mut answered, all, start) = (0, self.switches.len() as u64, Instant::now());
        while answered < all {
            assert!(start.elapsed() < PATIENCE, "{answered} of {all} echoes");
            self.serve(|_, news| {
                answered += news.echoes;
                told(&news);
            });
            self.flush();
        }
    }

    /// Has the switches send `messages`, and waits until they were processed.
    pub(crate) fn tell(&mut self, messages: impl IntoIterator<Item = (usize, Vec<u8>)>) {
        for (index, message) in messages {
            self.switches[index].send(&message);
        }
        // What it caused at other switches has left by then, too.
        self.settle(|_| {});
        self.settle(|_| {});
    }

    /// Keeps so many requests under way at each switch until the time is over, and waits for all answers.
    pub(crate) fn load(&mut self, requests: &mut BTreeMap<usize, Requests>, load: Load) -> Outcome {
        let (mut outcome, start) = (Outcome::default(), Instant::now());
        let mut owed = vec![0; self.switches.len()];
        let mut left: Vec<usize> = vec![load.most; self.switches.len()];
        for (index, requests) in &mut *requests {
            left[*index] -= load.window;
            outcome.sent += self.request(*index, requests, load.window);
        }
        self.flush();
        while (outcome.packets < outcome.sent || load.rate.is_some() && start.elapsed() < load.time)
            && start.elapsed() < load.time + PATIENCE
        {
            self.serve(|index, told| {
                outcome.add(&told);
                owed[index] += told.packets as usize;
            });
            for (index, requests) in &mut *requests {
                let room = load.room(start.elapsed(), outcome.sent);
                let count = owed[*index].min(left[*index]).min(room);
                (owed[*index], left[*index]) = (owed[*index] - count, left[*index] - count);
                outcome.sent += self.request(*index, requests, count);
            }
            self.end_streams(load.streams);
            self.flush();
        }
        outcome.took = start.elapsed();
        // What belongs to a request may come by another channel.
        for _ in 0..2 {
            self.settle(|told| outcome.add(told));
        }
        outcome
    }

    /// The times from the write of one request to the read of the last message that answers it.
    pub(crate) fn time(
        &mut self,
        index: usize,
        requests: &mut Requests,
        (count, rules): (usize, u64),
        streams: usize,
    ) -> Vec<Duration> {
        let mut times = Vec::with_capacity(count);
        for number in 0..count {
            let (start, mut seen) = (Instant::now(), (0, 0));
            self.request(index, requests, 1);
            self.flush();
            while seen.0 < 1 || seen.1 < rules {
                assert!(start.elapsed() < PATIENCE, "no answer to request {number}: {seen:?}");
                self.serve(|_, told| {
                    seen.0 += told.packets;
                    seen.1 += told.rules.iter().sum::<u64>();
                });
                times.extend((seen.0 >= 1 && seen.1 >= rules).then(|| start.elapsed()));
                self.flush();
            }
            self.end_streams(streams);
            self.flush();
        }
        times
    }

    /// Ends the oldest streams, so that no more than `most` are there.
    pub(crate) fn end_streams(&mut self, most: usize) {
        let over = self.streams.len().saturating_sub(most);
        for (index, cookie) in self.streams.drain(..over) {
            self.switches[index].expire(cookie);
        }
    }

    fn request(&mut self, index: usize, requests: &mut Requests, count: usize) -> u64 {
        let (mut left, length) = (count, requests.length);
        while left > 0 {
            let bytes = requests.take(left);
            left -= bytes.len() / length;
            self.switches[index].send(bytes);
        }
        count as u64
    }

    /// Reads what has arrived, forwards frames that left by links, and returns the messages that switches received.
    fn serve(&mut self, mut told: impl FnMut(usize, Told)) {
        for index in self.poller.wait() {
            let switch = &mut self.switches[index];
            switch.read();
            told(index, switch.told());
            self.streams.extend(switch.opened.drain(..).map(|cookie| (index, cookie)));
            for (port, frame) in std::mem::take(&mut switch.sent) {
                if let Some((peer, port)) = self.cables.get(&(index, port)) {
                    self.switches[*peer].send(&packet_in(*port, ADMIT, &frame));
                }
            }
        }
    }

    fn flush(&mut self) {
        self.switches.iter_mut().filter(|switch| switch.has_more_to_send()).for_each(Switch::flush);
    }
}
