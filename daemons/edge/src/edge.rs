use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use braid_switch::{Identity, Switch};
use braid_types::{PortNo, Time};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::buffers::Buffers;
use crate::channels::Channels;
use crate::error::EdgeError;
use crate::interface::Interface;
use crate::options::Options;
use crate::poller::{Poller, Token};

/// How often interfaces are looked at, whether they are up.
const LOOK: Duration = Duration::from_millis(50);

/// An edge that is set up. Frames pass while [`Self::run_while`] runs.
pub struct Edge {
    switch: Switch,
    interfaces: Vec<Interface>,
    channels: Channels,
    buffers: Buffers,
    poller: Poller,
    start: Instant,
    next_look: Time,
}

impl Edge {
    /// Opens the interfaces and listens; interfaces are those of the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// [`EdgeError`] with the interface or address that cannot be used.
    pub fn new(options: &Options) -> Result<Self, EdgeError> {
        let poller = Poller::new()?;
        let interfaces = interfaces(options)?;
        for (index, interface) in (0..).zip(&interfaces) {
            poller.add(&interface.port.socket, Token::Interface(index), false)?;
        }
        let channels = Channels::new(&poller, &options.listen, &options.controllers)?;
        let seed = getrandom::u64();
        let seed = seed.map_err(|error| {
            EdgeError::system("reading random numbers", io::Error::other(error.to_string()))
        })?;
        let identity = Identity {
            dpid: options.dpid,
            name: format!("braid edge {}", options.dpid),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
        };
        let switch = Switch::new(identity);
        let buffers = Buffers::default();
        Ok(Self {
            switch,
            interfaces,
            channels,
            buffers,
            poller,
            start: Instant::now(),
            next_look: Time::ZERO,
        })
    }

    /// Where it listens for controllers.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.channels.addresses().collect()
    }

    /// Passes frames until SIGTERM or SIGINT.
    ///
    /// # Errors
    ///
    /// As [`Self::run_while`].
    pub fn run_until_signalled(&mut self) -> Result<(), EdgeError> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            let registered = signal_hook::flag::register(signal, Arc::clone(&stop));
            registered.map_err(|error| EdgeError::system("waiting for signals", error))?;
        }
        self.run_while(|| !stop.load(Ordering::Relaxed))
    }

    /// Passes frames as long as `more` says so, which is asked at least every 50 ms.
    ///
    /// # Errors
    ///
    /// [`EdgeError::System`] if the kernel does not let the thread wait.
    pub fn run_while(&mut self, mut more: impl FnMut() -> bool) -> Result<(), EdgeError> {
        // By default the kernel wakes a thread up to 50 µs late, to save power.
        let slack = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        slack.map_err(|error| EdgeError::system("asking for exact timers", error))?;
        while more() {
            let wait = self.wait();
            for token in self.poller.wait(wait)? {
                self.handle(token);
            }
            self.keep_time();
            self.send();
            let now = self.now();
            self.channels.flush(now, &self.poller, &mut self.switch);
        }
        Ok(())
    }

    fn now(&self) -> Time {
        Time::ZERO + self.start.elapsed()
    }

    fn wait(&self) -> Duration {
        let next = self.switch.poll_timeout().min(self.next_look);
        let next = self.channels.next_retry().map_or(next, |retry| next.min(retry));
        next.since(self.now())
    }

    fn handle(&mut self, token: Token) {
        let now = self.now();
        match token {
            Token::Interface(index) => {
                if let Some(interface) = self.interfaces.get_mut(index as usize) {
                    interface.receive(now, &mut self.switch, &mut self.buffers);
                }
            }
            Token::Listener(number) => self.channels.accept(number, &self.poller, &mut self.switch),
            Token::Channel(number) => self.channels.serve(number, now, &mut self.switch),
        }
    }

    fn keep_time(&mut self) {
        let now = self.now();
        if self.switch.poll_timeout() <= now {
            self.switch.handle_timeout(now);
        }
        if self.next_look <= now {
            self.next_look = now + LOOK;
            self.look(now);
        }
        self.channels.connect(now, &self.poller, &mut self.switch);
    }

    fn look(&mut self, now: Time) {
        for interface in &self.interfaces {
            self.switch.set_port(now, interface.number, interface.describe());
            let missed = interface.port.socket.missed().unwrap_or(0);
            self.switch.count_missed(interface.number, missed.into());
        }
    }

    fn send(&mut self) {
        let mut any = false;
        for (number, packet) in self.switch.poll_packets() {
            any = true;
            if let Some(interface) = self.interfaces.iter_mut().find(|it| it.number == number) {
                interface.enqueue(packet);
            }
        }
        if any {
            for interface in &mut self.interfaces {
                let (number, switch) = (interface.number, &mut self.switch);
                interface.send(&mut self.buffers, |bytes| switch.count_refused(number, bytes));
            }
        }
    }
}

fn interfaces(options: &Options) -> Result<Vec<Interface>, EdgeError> {
    let mut all: Vec<(PortNo, &str)> = Vec::new();
    let mut interfaces = Vec::new();
    for (place, option) in (1..).zip(&options.ports) {
        let number = option.number.unwrap_or(PortNo(place));
        if let Some((_, other)) = all.iter().find(|(other, _)| *other == number) {
            return Err(EdgeError::SameNumber((*other).to_owned(), option.device.clone()));
        }
        all.push((number, &option.device));
        interfaces.push(Interface::open(option, number)?);
    }
    Ok(interfaces)
}
