//! The edge daemon's loop: interfaces, controllers, timers and the switch on one thread.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use braid_switch::{Identity, Switch, Uplinks};
use braid_types::Time;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::buffers::Buffers;
use crate::channels::Channels;
use crate::error::EdgeError;
use crate::interface::Interface;
use crate::options::Options;
use crate::poller::{Poller, Token};
use crate::tls::Tls;
use crate::tunnels::{self, Tunnels};

/// The interval at which the state of interfaces is checked.
const LINK_STATE_INTERVAL: Duration = Duration::from_millis(50);

/// An edge that is set up. It forwards frames while [`Self::run_while`] runs.
pub struct Edge {
    switch: Switch,
    interfaces: Vec<Interface>,
    uplinks: Uplinks,
    tunnels: Tunnels,
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
        let (interfaces, uplinks) = tunnels::open(options)?;
        let (uplinks, tunnels) = Tunnels::over(&uplinks, options)?;
        for (index, interface) in (0..).zip(&interfaces) {
            poller.add(&interface.port.socket, Token::Interface(index), false)?;
        }
        let tls = options.credentials.as_ref().map(Tls::read).transpose()?;
        if tls.is_none() && options.controllers.iter().any(|controller| controller.tls) {
            return Err(EdgeError::NoCredentials);
        }
        let channels = Channels::new(&poller, &options.listen, &options.controllers, tls)?;
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
            uplinks,
            tunnels,
            channels,
            buffers,
            poller,
            start: Instant::now(),
            next_look: Time::ZERO,
        })
    }

    /// The addresses that it listens on for controllers.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.channels.addresses().collect()
    }

    /// Passes frames until SIGTERM or SIGINT; calls `on_turn` at least every 50 ms.
    ///
    /// # Errors
    ///
    /// As [`Self::run_while`].
    pub fn run_until_signalled(&mut self, on_turn: &mut dyn FnMut()) -> Result<(), EdgeError> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            let registered = signal_hook::flag::register(signal, Arc::clone(&stop));
            registered.map_err(|error| EdgeError::system("waiting for signals", error))?;
        }
        self.run_while(|| {
            on_turn();
            !stop.load(Ordering::Relaxed)
        })
    }

    /// Passes frames while `more` returns `true`; it is called at least every 50 ms.
    ///
    /// # Errors
    ///
    /// [`EdgeError::System`] if waiting for events fails.
    pub fn run_while(&mut self, mut more: impl FnMut() -> bool) -> Result<(), EdgeError> {
        // The default timer slack wakes a thread up to 50 µs late.
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
        let next = self.uplinks.poll_timeout().map_or(next, |question| next.min(question));
        let next = self.channels.next_timeout().map_or(next, |retry| next.min(retry));
        next.since(self.now())
    }

    fn handle(&mut self, token: Token) {
        let now = self.now();
        match token {
            Token::Interface(index) => {
                if let Some(interface) = self.interfaces.get_mut(index as usize) {
                    interface.receive(now, &mut self.switch, &mut self.uplinks, &mut self.buffers);
                }
            }
            Token::Listener(number) => self.channels.accept(number, now, &self.poller, &mut self.switch),
            Token::Channel(number) => self.channels.serve(number, now, &mut self.switch),
        }
    }

    fn keep_time(&mut self) {
        let now = self.now();
        if self.switch.poll_timeout() <= now {
            self.switch.handle_timeout(now);
        }
        if self.next_look <= now {
            self.next_look = now + LINK_STATE_INTERVAL;
            self.look(now);
        }
        self.uplinks.handle_timeout(now);
        self.channels.check(now, &mut self.switch);
        self.channels.connect(now, &self.poller, &mut self.switch);
    }

    fn look(&mut self, now: Time) {
        for interface in &self.interfaces {
            let description = interface.describe();
            if let Some(uplink) = interface.uplink {
                self.uplinks.set_device(uplink, description.mac, description.mtu, description.up);
            }
            let missed = interface.port.socket.missed().unwrap_or(0);
            if let Some(number) = interface.number {
                self.switch.set_port(now, number, description);
                self.switch.count_missed(number, missed.into());
            }
        }
        self.tunnels.look(now, &self.uplinks, &mut self.switch);
    }

    fn send(&mut self) {
        let any = self.switch_packets() | self.uplink_packets();
        if any {
            for interface in &mut self.interfaces {
                let (number, switch) = (interface.number, &mut self.switch);
                interface.send(&mut self.buffers, |bytes| {
                    number.into_iter().for_each(|number| switch.count_refused(number, bytes));
                });
            }
        }
    }

    /// Moves packets that leave by ports to the queues of interfaces and tunnels. Returns whether there were any.
    fn switch_packets(&mut self) -> bool {
        let (now, mut any, mut refused) = (self.now(), false, Vec::new());
        for (number, mut packet) in self.switch.poll_packets() {
            any = true;
            let bytes = packet.data.len() as u64;
            let taken = if self.uplinks.is_tunnel(number) {
                self.uplinks.send(now, number, packet)
            } else if let Some(it) = self.interfaces.iter_mut().find(|it| it.number == Some(number)) {
                let passes = it.uplink.is_none_or(|uplink| self.uplinks.address(uplink, &mut packet));
                passes.then(|| it.enqueue(packet)).is_some()
            } else {
                true
            };
            refused.extend((!taken).then_some((number, bytes)));
        }
        refused.into_iter().for_each(|(number, bytes)| self.switch.count_refused(number, bytes));
        any
    }

    /// The same for packets that uplinks send: tunnels, ARP/ND requests and replies.
    fn uplink_packets(&mut self) -> bool {
        let mut any = false;
        for (uplink, packet) in self.uplinks.poll_packets() {
            any = true;
            if let Some(interface) = self.interfaces.iter_mut().find(|it| it.uplink == Some(uplink)) {
                interface.enqueue(packet);
            }
        }
        any
    }
}
