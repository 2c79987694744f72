//! The loop: the local network, the uplinks, timers and the site on one thread.

mod reload;

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use braid_packet_io::DeviceSocket;
use braid_tunnel::{Dial, Event, Lan, PathRef, Peer, Site, SiteSettings, UplinkSettings};
use braid_types::Time;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::config::{Config, DialConfig, PeerConfig};
use crate::error::SiteError;
use crate::key_file;
use crate::lan::LanDevice;
use crate::metrics;
use crate::names::Names;
use crate::nat::Nat;
use crate::status::{StatusDocument, StatusSocket};
use crate::suite;
use crate::uplinks::{self, Uplink};
use reload::Reload;

/// The interval at which interfaces are looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// The interval at which a reload that is not complete is looked at.
const RELOAD_INTERVAL: Duration = Duration::from_millis(20);
/// Packets of one source in a turn.
const MAX_BATCH: usize = 64;

/// A site that is set up. It passes packets while [`Self::run_until_signalled`] runs.
pub struct SiteDaemon {
    site: Site,
    config: Config,
    /// Whether the file was used when it was read last.
    reloaded: bool,
    /// What holds once its networks are translated.
    pending: Option<Reload>,
    lan: LanDevice,
    nat: Option<Nat>,
    uplinks: Vec<Uplink>,
    names: Names,
    status: StatusSocket,
    /// Where datagrams are received.
    buffer: Vec<u8>,
    start: Instant,
    next_look: Time,
}

/// What became ready.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Lan,
    Status,
    Uplink { uplink: usize, socket: usize },
}

impl SiteDaemon {
    /// Makes the local device and the sockets, in the calling thread's network namespace. Interfaces that are absent are
    /// waited for.
    ///
    /// # Errors
    ///
    /// [`SiteError`] with the device, address or socket that cannot be used.
    pub fn new(config: &Config) -> Result<Self, SiteError> {
        let seed = key_file::random().map_err(|error| SiteError::system("reading random numbers", error))?;
        let lan = LanDevice::open(&config.lan, config.networks(), config.offloads)?;
        let interfaces = config.uplinks.iter().map(|uplink| uplink.interface.as_str());
        let nat =
            config.lan.nat.then(|| Nat::open(&config.lan.device, interfaces, config.networks(), lan.mtu));
        let nat = nat.transpose()?;
        let status = StatusSocket::open(&config.status)?;
        if let Some(address) = config.metrics {
            metrics::serve(address, config.status.clone())?;
        }
        let uplink = |uplink| Uplink::new(uplink, config.port, config.offloads);
        let uplinks = config.uplinks.iter().map(uplink).collect();
        Ok(Self {
            site: Site::new(Time::ZERO, settings(config), seed),
            config: config.clone(),
            reloaded: true,
            pending: None,
            lan,
            nat,
            uplinks,
            names: Names::new(&config.peers)?,
            status,
            buffer: vec![0; DeviceSocket::ROOM],
            start: Instant::now(),
            next_look: Time::ZERO,
        })
    }

    /// Passes packets until SIGTERM or SIGINT; calls `on_turn` at least every 500 ms, at first when signals are handled.
    ///
    /// At SIGHUP reads `file` again: its peers and rules of traffic hold from then on, and nothing happens to peers that stay as
    /// they are. A file with mistakes or with other changes is refused with an error in the log, and changes nothing.
    ///
    /// # Errors
    ///
    /// [`SiteError::System`] if waiting for signals or events fails.
    pub fn run_until_signalled(&mut self, file: &Path, on_turn: &mut dyn FnMut()) -> Result<(), SiteError> {
        let (stop, hangup) = (flag(&[SIGTERM, SIGINT])?, flag(&[SIGHUP])?);
        loop {
            on_turn();
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if self.pending.is_none() && hangup.swap(false, Ordering::Relaxed) {
                self.reload(file);
            }
            self.turn()?;
        }
    }

    fn turn(&mut self) -> Result<(), SiteError> {
        for source in self.wait()? {
            self.handle(source);
            self.flush();
        }
        self.keep_time();
        self.finish_reload();
        self.flush();
        Ok(())
    }

    fn now(&self) -> Time {
        Time::ZERO + self.start.elapsed()
    }

    fn wait(&self) -> Result<Vec<Source>, SiteError> {
        let now = self.now();
        let due = self.site.poll_timeout(now).map_or(self.next_look, |due| due.min(self.next_look));
        let due = if self.pending.is_some() { due.min(now + RELOAD_INTERVAL) } else { due };
        let wait = due.since(now);
        let timeout = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
        let mut sources = vec![Source::Lan, Source::Status];
        let mut polled = vec![
            PollFd::from_borrowed_fd(self.lan.device.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.status.as_fd(), PollFlags::IN),
        ];
        for (uplink, it) in self.uplinks.iter().enumerate() {
            for (socket, it) in it.sockets().enumerate() {
                sources.push(Source::Uplink { uplink, socket });
                polled.push(PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN));
            }
        }
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(SiteError::system("waiting for packets", error)),
        }
        let ready = sources.into_iter().zip(&polled).filter(|(_, it)| !it.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    fn handle(&mut self, source: Source) {
        match source {
            Source::Lan => self.handle_lan(),
            Source::Uplink { uplink, socket } => self.handle_uplink(uplink, socket),
            Source::Status => {
                let document = StatusDocument::of(
                    &self.site,
                    (&self.config, self.reloaded),
                    &self.uplinks,
                    self.lan.mtu,
                );
                self.status.answer(&document);
            }
        }
    }

    fn handle_lan(&mut self) {
        let mut taken = 0;
        while taken < MAX_BATCH {
            let (now, site) = (self.now(), &mut self.site);
            let Some(packets) = self.lan.receive(|packet| site.handle_packet(now, packet)) else { return };
            taken += packets;
        }
    }

    fn handle_uplink(&mut self, number: usize, socket: usize) {
        let mut taken = 0;
        while taken < MAX_BATCH {
            let Some(uplink) = self.uplinks.get_mut(number) else { return };
            let Some(datagrams) = uplink.receive(socket, &mut self.buffer) else { return };
            // Only now: a probe that seems to arrive before it was sent would make all later ones look queued.
            let now = Time::ZERO + self.start.elapsed();
            for bytes in datagrams.iter() {
                self.site.handle_datagram(now, number as u8, datagrams.from, bytes);
                taken += 1;
            }
        }
    }

    fn keep_time(&mut self) {
        let now = self.now();
        if self.next_look <= now {
            self.next_look = now + LOOK_INTERVAL;
            self.look(now);
        }
        let now = self.now();
        if self.site.poll_timeout(now).is_some_and(|due| due <= now) {
            self.site.handle_timeout(now);
        }
    }

    fn look(&mut self, now: Time) {
        let states = uplinks::states(self.uplinks.iter().map(|uplink| uplink.interface.as_str()));
        for ((number, uplink), state) in (0..).zip(&mut self.uplinks).zip(states) {
            if state.is_some_and(|state| uplink.look(state)) {
                match uplink.is_ready() {
                    true => self.site.uplink_changed(now, number),
                    false => self.site.uplink_lost(now, number),
                }
            }
        }
        let site = &self.site;
        for (at, address) in self.names.look(now, |at| is_up(site, at)) {
            self.site.set_address(now, at, address);
        }
        if let Some(room) = self.site.mtu() {
            self.lan.set_mtu(room);
        }
        if let Some(nat) = &mut self.nat {
            nat.set_mtu(self.lan.mtu);
        }
    }

    fn flush(&mut self) {
        while let Some(transmit) = self.site.poll_transmit() {
            if let Some(uplink) = self.uplinks.get_mut(usize::from(transmit.uplink)) {
                uplink.push(transmit.to, transmit.bytes);
            }
        }
        let site = &mut self.site;
        self.uplinks.iter_mut().for_each(|uplink| uplink.flush(|buffer| site.recycle(buffer)));
        while let Some(packet) = self.site.poll_packet() {
            self.lan.push(packet);
        }
        let site = &mut self.site;
        self.lan.flush(|buffer| site.recycle(buffer));
        while let Some(event) = self.site.poll_event() {
            self.log(&event);
        }
    }

    fn log(&self, event: &Event) {
        let peer =
            |at: &PathRef| self.config.peers.get(usize::from(at.peer)).map_or("", |peer| peer.name.as_str());
        match event {
            Event::Up(at) => tracing::info!(peer = peer(at), path = at.path, "path up"),
            Event::Down(at) => tracing::warn!(peer = peer(at), path = at.path, "path down"),
            Event::Roamed(at, to) => {
                tracing::info!(peer = peer(at), path = at.path, %to, "the peer has another address");
            }
            Event::KeyConflict(at, from) => tracing::error!(
                peer = peer(at), %from,
                "two sites use this peer's private key in turn: make a key for each (braid site keygen)"
            ),
            Event::Content(..) => {}
        }
    }
}

/// What is set at any of these signals.
fn flag(signals: &[i32]) -> Result<Arc<AtomicBool>, SiteError> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in signals {
        let registered = signal_hook::flag::register(*signal, Arc::clone(&flag));
        registered.map_err(|error| SiteError::system("waiting for signals", error))?;
    }
    Ok(flag)
}

fn is_up(site: &Site, at: PathRef) -> bool {
    let peer = site.peers().nth(usize::from(at.peer));
    peer.is_some_and(|peer| peer.paths.get(usize::from(at.path)).is_some_and(|path| path.is_up))
}

fn settings(config: &Config) -> SiteSettings {
    let dial = |it: &DialConfig| Dial { uplink: it.uplink, address: it.to.address() };
    let peer = |it: &PeerConfig| Peer { key: it.key, dials: it.dials.iter().map(dial).collect() };
    SiteSettings {
        key: config.key.clone(),
        peers: config.peers.iter().map(peer).collect(),
        networks: config.peers.iter().map(|peer| peer.networks.clone()).collect(),
        uplinks: config.uplinks.iter().map(|it| UplinkSettings { rate: it.rate, cost: it.cost }).collect(),
        traffic: config.traffic.clone(),
        lan: if config.lan.ethernet { Lan::Bridged } else { Lan::Routed },
        suite: suite::quickest(),
    }
}
