//! The forwarding thread: receive, ask the model, sleep until a frame is due, send.

mod link;
mod poller;

use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use braid_types::Time;

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::control::{Request, Server, Status};
use crate::error::LinkError;
use crate::setup::{LinkSetup, Setup};
use link::Link;
pub(crate) use poller::{Poller, Token};

/// Slots of all rings together, 2 KiB each: 128 MiB.
const MAX_RING_SLOTS: usize = 1 << 16;
/// Slots of one ring: 30 ms to half a second of full frames at 100 Mbit/s.
const SLOTS_PER_RING: std::ops::RangeInclusive<usize> = 256..=4_096;

/// The longest time that frames stay in the rings; longer gains nothing, and rings could fill up.
const MAX_BATCH_DELAY: Duration = Duration::from_micros(500);

/// Links that are set up. They forward frames while [`Self::run`] runs.
pub struct Engine {
    links: Vec<Link>,
    buffers: Buffers,
    poller: Poller,
    server: Server,
}

impl Engine {
    /// Opens the interfaces and the control socket; interfaces are those of the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// [`LinkError`] with the interface or path that cannot be used.
    pub fn new(setup: &Setup) -> Result<Self, LinkError> {
        let poller = Poller::new()?;
        let slots = (MAX_RING_SLOTS / (2 * setup.links.len()).max(1))
            .clamp(*SLOTS_PER_RING.start(), *SLOTS_PER_RING.end());
        let mut links = Vec::new();
        for (index, link) in setup.links.iter().enumerate() {
            let seed = setup.seed.wrapping_add(2 * index as u64);
            let link = Link::open(link, slots as u32, seed)?;
            for (side, port) in link.ports().enumerate() {
                poller.add(port, Token::Port { link: index, side })?;
            }
            links.push(link);
        }
        let server = Server::bind(&setup.socket)?;
        poller.add(&server, Token::Listener)?;
        Ok(Self { links, buffers: Buffers::default(), poller, server })
    }

    /// Passes frames until the process ends.
    ///
    /// # Errors
    ///
    /// [`LinkError::System`] if waiting for events fails.
    pub fn run(&mut self) -> Result<(), LinkError> {
        self.run_while(|| true)
    }

    /// Passes frames while `more` returns `true`; it is called at least four times a second.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
    pub fn run_while(&mut self, mut more: impl FnMut() -> bool) -> Result<(), LinkError> {
        be_punctual()?;
        let mut busy = false;
        while more() {
            let mut wait = self.wait(Clock::read().now());
            let pause = wait.min(self.batch_delay());
            if busy && !pause.is_zero() {
                thread::sleep(pause);
                wait = Duration::ZERO;
            }
            busy = false;
            for token in self.poller.wait(wait)? {
                busy |= matches!(token, Token::Port { .. });
                self.handle(token);
            }
            self.send(Clock::read().now());
        }
        Ok(())
    }

    /// The time that frames may stay in the rings when more are expected.
    ///
    /// Frames carry the kernel's timestamp, so none is late if it is read well before the shortest delay ends. Batching
    /// avoids a wake-up for each frame, which costs the sender more than the frame.
    fn batch_delay(&self) -> Duration {
        let shortest = self.links.iter().map(Link::shortest).min().unwrap_or_default();
        (shortest / 4).min(MAX_BATCH_DELAY)
    }

    /// The time until the next due frame.
    fn wait(&self, now: Time) -> Duration {
        let next = self.links.iter().filter_map(Link::next_event).min();
        let longest = Duration::from_millis(250);
        next.map_or(longest, |next| next.since(now).min(longest))
    }

    fn handle(&mut self, token: Token) {
        match token {
            Token::Port { link, side } => {
                if let Some(link) = self.links.get_mut(link) {
                    link.receive(side, &mut self.buffers);
                }
            }
            Token::Listener => self.server.accept(&self.poller),
            Token::Client(client) => {
                let links = &mut self.links;
                self.server.serve(client, |request| answer(links, request));
            }
        }
    }

    fn send(&mut self, now: Time) {
        let due = self.links.iter_mut().filter(|link| link.next_event().is_some_and(|event| event <= now));
        for link in due {
            link.send(now, &mut self.buffers);
        }
    }
}

/// Opens a link and closes it again, to check that it can be opened.
pub(crate) fn probe(setup: &LinkSetup) -> Result<(), LinkError> {
    Link::open(setup, *SLOTS_PER_RING.start() as u32, 0).map(drop)
}

/// Sets the thread's timer slack to the minimum.
fn be_punctual() -> Result<(), LinkError> {
    // The default slack is 50 µs. A real-time priority would block the kernel thread that receives at the peer.
    let slack = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    slack.map_err(|error| LinkError::system("asking for exact timers", error))
}

fn answer(links: &mut [Link], request: Request) -> Result<Status, String> {
    let now = Clock::read().now();
    if let Request::Change(change) = request {
        let count = links.len();
        let link = links.get_mut(change.link);
        let link = link.ok_or_else(|| format!("there is no link {}; there are {count}", change.link))?;
        link.change(now, &change.directions).map_err(|error| error.to_string())?;
        return Ok(Status { links: vec![link.status()] });
    }
    Ok(Status { links: links.iter_mut().map(Link::status).collect() })
}
