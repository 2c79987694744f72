//! Emulated switches, the links between them, and the load of their hosts.

mod back_off;
mod requests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use braid_openflow::{Bytes, Echo, Message, Xid};
use braid_types::{DatapathId, PortNo};
use rustix::net::{Shutdown, shutdown};

use self::back_off::BackOff;
use crate::error::LoadError;
use crate::layout::Layout;
use crate::packets::{ADMIT, append_packet_in};
use crate::poller::Poller;
use crate::relay::Relay;
use crate::switch::{CHUNK, Received, Switch};
use crate::target::Target;

/// Nothing takes longer, or it will not come.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections under way at a time, so that no queue of new connections overflows.
const MAX_OPENING: usize = 64;
/// The longest message: its length field has 16 bits.
const MAX_MESSAGE: usize = 1 << 16;

/// A port, by the index of its switch.
pub type End = (usize, PortNo);

/// Emulated switches and the links between them.
#[derive(Debug)]
pub struct Network {
    to: Target,
    /// The switches, in the order of the layout.
    pub switches: Vec<Switch>,
    /// What each port leads to, in the order of the switch's ports.
    peers: Vec<Vec<Option<End>>>,
    waiting: VecDeque<(DatapathId, Vec<PortNo>)>,
    poller: Poller,
    inbox: Vec<u8>,
    relay: Relay,
    /// Discovery frames that were sent out of ports.
    pub frames: u64,
    /// Directed links that a discovery frame has passed, in the order of `peers`.
    probed: Vec<Vec<bool>>,
    /// How many these are.
    pub probed_links: usize,
    /// Switches with something to send; a switch may be there twice.
    filled: Vec<usize>,
    /// Switches without a connection, and what the sockets said of those that the controller has closed.
    closed: Vec<(usize, String)>,
    /// How often the controller closed a connection.
    pub closures: u64,
    back_off: BackOff,
    /// How often a switch connected again.
    pub reconnections: u64,
    /// Streams in the order in which they were opened, and where.
    streams: VecDeque<(usize, u64)>,
}

impl Network {
    /// Connects the switches of a layout, all before it returns.
    ///
    /// # Errors
    /// Nobody listens, or the controller does not answer.
    pub fn connect(to: impl Into<Target>, layout: &Layout) -> Result<Self, LoadError> {
        let mut network = Self::new(to, layout)?;
        let start = Instant::now();
        while network.open()? {
            if start.elapsed() > PROGRESS_TIMEOUT * 6 {
                return Err(LoadError::Stuck { what: "HELLO".to_owned(), after: start.elapsed() });
            }
            network.serve(|_, _| {})?;
            network.flush()?;
            network.check()?;
        }
        network.flush()?;
        Ok(network)
    }

    /// A network whose switches [`open`](Self::open) connects.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn new(to: impl Into<Target>, layout: &Layout) -> Result<Self, LoadError> {
        let mut peers: Vec<_> = layout.ports.iter().map(|ports| vec![None; ports.len()]).collect();
        for (a, b) in &layout.links {
            for (from, end) in [(a, b), (b, a)] {
                if let Ok(place) = layout.ports[from.0].binary_search(&from.1) {
                    peers[from.0][place] = Some(*end);
                }
            }
        }
        Ok(Self {
            to: to.into(),
            switches: Vec::new(),
            probed: peers.iter().map(|peers| vec![false; peers.len()]).collect(),
            probed_links: 0,
            peers,
            waiting: layout.dpids.iter().copied().zip(layout.ports.iter().cloned()).collect(),
            poller: Poller::new()?,
            inbox: vec![0; MAX_MESSAGE + CHUNK],
            relay: Relay::default(),
            frames: 0,
            filled: Vec::new(),
            closed: Vec::new(),
            closures: 0,
            back_off: BackOff::default(),
            reconnections: 0,
            streams: VecDeque::new(),
        })
    }

    /// Connects some of the switches that are not connected yet. Says whether there are more.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn open(&mut self) -> Result<bool, LoadError> {
        let opening = self.switches.iter().rev().take(2 * MAX_OPENING).filter(|it| !it.is_up).count();
        for _ in opening..MAX_OPENING {
            let Some((dpid, ports)) = self.waiting.pop_front() else { return Ok(false) };
            let (index, switch) = (self.switches.len(), Switch::connect(&self.to, dpid, ports)?);
            self.poller.add(&switch.stream, index)?;
            self.switches.push(switch);
            self.filled.push(index);
        }
        Ok(!self.waiting.is_empty())
    }

    /// Connects the switches again whose connections were closed a while ago.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn reopen(&mut self) -> Result<(), LoadError> {
        let back_off = &self.back_off;
        let due: Vec<_> = self.closed.extract_if(.., |(index, _)| back_off.is_over(*index)).collect();
        for (index, _) in due {
            self.reconnections += 1;
            let old = &self.switches[index];
            let switch = Switch::connect(&self.to, old.dpid, old.ports().to_vec())?;
            self.poller.add(&switch.stream, index)?;
            self.switches[index] = switch;
            self.filled.push(index);
        }
        Ok(())
    }

    /// # Errors
    /// The controller has closed a connection.
    fn check(&self) -> Result<(), LoadError> {
        match self.closed.first() {
            Some((index, why)) => {
                Err(LoadError::Closed { dpid: self.switches[*index].dpid, why: why.clone() })
            }
            None => Ok(()),
        }
    }

    /// Goes on until `done`, which is asked from time to time.
    ///
    /// # Errors
    /// It never is, or a connection closes.
    pub fn serve_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) -> Result<(), LoadError> {
        let start = Instant::now();
        while !done(self) {
            self.check()?;
            if start.elapsed() > PROGRESS_TIMEOUT {
                return Err(LoadError::Stuck { what: "progress".to_owned(), after: PROGRESS_TIMEOUT });
            }
            self.serve_for(Duration::from_millis(50))?;
        }
        Ok(())
    }

    /// Goes on for so long.
    ///
    /// # Errors
    /// The system refuses.
    pub fn serve_for(&mut self, time: Duration) -> Result<(), LoadError> {
        let start = Instant::now();
        while start.elapsed() < time {
            self.serve(|_, _| {})?;
            self.flush()?;
        }
        Ok(())
    }

    /// Waits until every message sent before was processed; calls `received` with what arrives meanwhile.
    fn settle(&mut self, mut received: impl FnMut(&Received)) -> Result<(), LoadError> {
        (0..self.switches.len()).for_each(|index| self.ask(index));
        self.flush()?;
        let (mut answered, all, start) = (0, self.switches.len() as u64, Instant::now());
        while answered < all {
            self.check()?;
            if start.elapsed() > PROGRESS_TIMEOUT {
                let what = format!("answer to {} of {all} echo requests", all - answered);
                return Err(LoadError::Stuck { what, after: PROGRESS_TIMEOUT });
            }
            self.serve(|_, news| {
                answered += news.echoes;
                received(&news);
            })?;
            self.flush()?;
        }
        Ok(())
    }

    /// Has a switch send a message with the next flush.
    pub fn send(&mut self, index: usize, message: &[u8]) {
        self.switches[index].send(message);
        self.filled.push(index);
    }

    /// Bytes that a switch has still to send.
    pub fn waiting_at(&self, index: usize) -> usize {
        self.switches[index].waiting()
    }

    /// Has a switch send an echo request with the next flush.
    pub fn ask(&mut self, index: usize) {
        self.switches[index].say(Xid(1), &Message::EchoRequest(Echo { data: Bytes(b"done?") }));
        self.filled.push(index);
    }

    /// Has the switches send `messages`, and waits until they were processed.
    ///
    /// # Errors
    /// The controller does not answer.
    pub fn tell(&mut self, messages: impl IntoIterator<Item = (usize, Vec<u8>)>) -> Result<(), LoadError> {
        for (index, message) in messages {
            self.send(index, &message);
        }
        // What it caused at other switches has left by then, too.
        self.settle(|_| {})?;
        self.settle(|_| {})
    }

    /// Reads what has arrived, forwards discovery frames that left by links, and returns the messages that
    /// switches received.
    ///
    /// # Errors
    /// The system refuses.
    pub fn serve(&mut self, mut received: impl FnMut(usize, Received)) -> Result<(), LoadError> {
        let pause = if self.filled.is_empty() { Duration::from_millis(20) } else { Duration::from_millis(1) };
        for index in self.poller.wait_for(pause)? {
            self.relay.clear();
            let switch = &mut self.switches[index];
            let read = switch.read(&mut self.inbox, &mut self.relay);
            received(index, switch.received());
            self.streams.extend(switch.opened.drain(..).map(|cookie| (index, cookie)));
            self.filled.push(index);
            self.forward(index);
            if let Err(why) = read {
                self.close(index, &why.to_string());
            }
        }
        Ok(())
    }

    /// Has frames that left the switch arrive at its neighbours, or at the controller again.
    fn forward(&mut self, index: usize) {
        for (port, frame) in self.relay.frames() {
            self.frames += 1;
            let (to, port) = match self.switches[index].ports().binary_search(&port) {
                Ok(place) => match self.peers[index][place] {
                    Some(end) => {
                        self.switches[index].note_sent(place, frame);
                        let probed = std::mem::replace(&mut self.probed[index][place], true);
                        self.probed_links += usize::from(!probed);
                        end
                    }
                    None => continue,
                },
                Err(_) if port == PortNo::CONTROLLER => (index, port),
                Err(_) => continue,
            };
            if let Some(peer) = self.switches.get_mut(to).filter(|peer| peer.is_up) {
                peer.note_received(port, frame);
                peer.append(|out| append_packet_in(out, port, ADMIT, frame));
                self.filled.push(to);
            }
        }
    }

    /// Lets a switch die: its connection ends, and its neighbours report their ports. Returns the number of its links.
    pub fn kill(&mut self, index: usize) -> usize {
        let switch = &mut self.switches[index];
        if self.poller.remove(&switch.stream).is_ok() {
            switch.is_up = false;
            // The controller may have closed it already.
            let _ = shutdown(&switch.stream, Shutdown::Both);
        }
        let neighbours: Vec<_> = self.peers[index].iter().flatten().copied().collect();
        for (neighbour, port) in &neighbours {
            self.switches[*neighbour].lose_link(*port);
            self.filled.push(*neighbour);
        }
        neighbours.len()
    }

    /// Ends a switch's connection while its ports stay up; it connects again later. Returns how many directed links have it at
    /// one end, and at the other one a switch that is connected.
    pub fn disconnect(&mut self, index: usize) -> usize {
        // The controller may have closed it already.
        let _ = shutdown(&self.switches[index].stream, Shutdown::Both);
        self.leave(index, "left");
        let ends: Vec<_> =
            self.peers[index].iter().enumerate().filter_map(|(at, it)| Some((at, (*it)?))).collect();
        for (place, (peer, port)) in &ends {
            self.forget_probe(index, *place);
            if let Ok(place) = self.switches[*peer].ports().binary_search(port) {
                self.forget_probe(*peer, place);
            }
        }
        2 * ends.iter().filter(|(_, (peer, _))| self.switches[*peer].is_up).count()
    }

    /// A link has to be passed by a frame again.
    fn forget_probe(&mut self, index: usize, place: usize) {
        let probed = std::mem::take(&mut self.probed[index][place]);
        self.probed_links -= usize::from(probed);
    }

    fn close(&mut self, index: usize, why: &str) {
        self.closures += u64::from(self.leave(index, why));
    }

    /// Notes that a switch has no connection any more. Says whether it had one.
    fn leave(&mut self, index: usize, why: &str) -> bool {
        let switch = &mut self.switches[index];
        let had_one = self.poller.remove(&switch.stream).is_ok();
        if had_one {
            self.back_off.begin(index, std::mem::take(&mut switch.is_up));
            self.closed.push((index, why.to_owned()));
        }
        had_one
    }

    /// Sends what is to be sent, as far as the controller reads.
    ///
    /// # Errors
    /// None so far.
    pub fn flush(&mut self) -> Result<(), LoadError> {
        let mut filled = std::mem::take(&mut self.filled);
        filled.sort_unstable();
        filled.dedup();
        let mut left = Vec::new();
        for index in filled {
            match self.switches[index].flush() {
                Ok(true) => {}
                Ok(false) => left.push(index),
                Err(why) => self.close(index, &why.to_string()),
            }
        }
        self.filled = left;
        Ok(())
    }
}
