//! OpenFlow connections with controllers, incoming and outgoing.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use braid_openflow::frame_length;
use braid_switch::{ConnectionId, Switch};
use braid_tls::{Role, Transport, explain};
use braid_types::Time;
use socket2::{Domain, Socket, Type};
use tracing::{info, warn};

use crate::error::EdgeError;
use crate::liveness::{Liveness, Step};
use crate::options::ControllerOption;
use crate::poller::{Interest, Poller, Token};
use crate::tls::Tls;

/// The interval of attempts to connect to a controller.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);
/// Incoming connections at a time. Those to the edge's own controllers have places of their own.
const MAX_INCOMING: usize = 32;
/// The interval at which silent connections are looked for.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Bytes that a peer may leave unread before nothing more of it is read or answered. One answer may exceed it.
const MAX_UNSENT: usize = 1 << 20;
/// Bytes read at a time.
const READ_CHUNK: usize = 64 << 10;

/// All connections.
pub(crate) struct Channels {
    listeners: Vec<TcpListener>,
    targets: Vec<Target>,
    tls: Option<Tls>,
    channels: BTreeMap<u32, Channel>,
    next: u32,
    next_check: Time,
}

/// A controller to connect to.
struct Target {
    controller: ControllerOption,
    channel: Option<u32>,
    retry: Time,
    /// The last failure of TLS, so that it is logged once.
    failure: String,
}

struct Channel {
    stream: Transport,
    peer: SocketAddr,
    unread: Vec<u8>,
    /// Whether messages in `unread` wait until the peer has read what it asked for.
    paused: bool,
    /// What the poller reports of it.
    interest: Interest,
    /// Whether the peer has connected to a listener.
    incoming: bool,
    liveness: Liveness,
}

impl Channels {
    pub(crate) fn new(
        poller: &Poller,
        listen: &[SocketAddr],
        controllers: &[ControllerOption],
        tls: Option<Tls>,
    ) -> Result<Self, EdgeError> {
        let mut listeners = Vec::new();
        for (number, address) in (0..).zip(listen) {
            let listener =
                listener(*address).map_err(|source| EdgeError::Listen { address: *address, source })?;
            poller.add(&listener, Token::Listener(number), false)?;
            listeners.push(listener);
        }
        let target = |controller: &ControllerOption| Target {
            controller: *controller,
            channel: None,
            retry: Time::ZERO,
            failure: String::new(),
        };
        let targets = controllers.iter().map(target).collect();
        Ok(Self { listeners, targets, tls, channels: BTreeMap::new(), next: 0, next_check: Time::ZERO })
    }

    /// The addresses that the edge listens on.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listeners.iter().filter_map(|listener| listener.local_addr().ok())
    }

    /// The time of the next call of [`Self::connect`] and [`Self::check`].
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let retries =
            self.targets.iter().filter(|target| target.channel.is_none()).map(|target| target.retry);
        retries.chain((!self.channels.is_empty()).then_some(self.next_check)).min()
    }

    /// Closes connections that are silent, and asks those that may be. The edge's own come back.
    pub(crate) fn check(&mut self, now: Time, switch: &mut Switch) {
        if now < self.next_check {
            return;
        }
        self.next_check = now + CHECK_INTERVAL;
        let mut silent = Vec::new();
        for (number, channel) in &mut self.channels {
            match channel.liveness.handle_timeout(now) {
                Step::Nothing => {}
                Step::SendEcho => switch.request_echo(ConnectionId(*number)),
                Step::Close(why) => silent.push((*number, why)),
            }
        }
        for (number, why) in silent {
            self.end(number, now, switch, &io::Error::new(io::ErrorKind::TimedOut, why));
        }
    }

    /// Connects to the controllers without a connection.
    pub(crate) fn connect(&mut self, now: Time, poller: &Poller, switch: &mut Switch) {
        for index in 0..self.targets.len() {
            let due = self.targets.get(index).filter(|it| it.channel.is_none() && it.retry <= now);
            let Some(controller) = due.map(|target| target.controller) else { continue };
            let stream = self.open(controller).ok();
            let channel = stream.and_then(|stream| self.add(now, stream, controller.address, poller, switch));
            if let Some(target) = self.targets.get_mut(index) {
                (target.channel, target.retry) = (channel, now + RECONNECT_INTERVAL);
            }
        }
    }

    fn open(&mut self, controller: ControllerOption) -> io::Result<Transport> {
        let stream = begin(controller.address)?;
        // A controller with TLS is refused before, where there are no credentials.
        match &mut self.tls {
            Some(tls) if controller.tls => tls.connect(stream),
            _ => Ok(Transport::Plain(stream)),
        }
    }

    pub(crate) fn accept(&mut self, number: u32, now: Time, poller: &Poller, switch: &mut Switch) {
        let Some(listener) = self.listeners.get(number as usize) else { return };
        let Some((stream, peer)) = listener.accept().ok().filter(|(it, _)| it.set_nonblocking(true).is_ok())
        else {
            return;
        };
        if !self.make_room(now, switch) {
            warn!(%peer, "refused: {MAX_INCOMING} clients are connected to the listener");
            return;
        }
        if let Some(channel) = self
            .add(now, Transport::Plain(stream), peer, poller, switch)
            .and_then(|it| self.channels.get_mut(&it))
        {
            channel.incoming = true;
        }
    }

    /// Makes room for one more incoming connection: the oldest that has not said HELLO gives way. Whether there is room.
    fn make_room(&mut self, now: Time, switch: &mut Switch) -> bool {
        let incoming = || self.channels.iter().filter(|(_, channel)| channel.incoming);
        if incoming().count() < MAX_INCOMING {
            return true;
        }
        let oldest = incoming().find(|(_, channel)| !channel.liveness.has_greeted()).map(|(it, _)| *it);
        let Some(oldest) = oldest else { return false };
        self.end(oldest, now, switch, &io::ErrorKind::ConnectionAborted.into());
        true
    }

    fn add(
        &mut self,
        now: Time,
        stream: Transport,
        peer: SocketAddr,
        poller: &Poller,
        switch: &mut Switch,
    ) -> Option<u32> {
        let _ = stream.set_nodelay();
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        poller.add(&stream, Token::Channel(number), true).ok()?;
        switch.connect(ConnectionId(number));
        let (unread, liveness) = (Vec::new(), Liveness::open(now));
        let interest = Interest { read: true, write: true };
        let channel = Channel { stream, peer, unread, paused: false, interest, incoming: false, liveness };
        self.channels.insert(number, channel);
        Some(number)
    }

    /// Reads from a controller.
    pub(crate) fn serve(&mut self, number: u32, now: Time, switch: &mut Switch) {
        let Some(channel) = self.channels.get_mut(&number).filter(|channel| channel.interest.read) else {
            return;
        };
        let read = channel.read().and_then(|()| channel.handle(now, number, switch));
        if let Err(error) = read {
            self.end(number, now, switch, &error);
        }
    }

    /// Writes pending messages to controllers.
    pub(crate) fn flush(&mut self, now: Time, poller: &Poller, switch: &mut Switch) {
        let mut ended = Vec::new();
        for (number, channel) in &mut self.channels {
            if let Err(error) = channel.flush(now, *number, switch) {
                ended.push((*number, error));
                continue;
            }
            let interest = channel.wants(switch.unsent(ConnectionId(*number)));
            if interest != channel.interest {
                channel.interest = interest;
                poller.change(&channel.stream, Token::Channel(*number), interest);
            }
        }
        ended.into_iter().for_each(|(number, error)| self.end(number, now, switch, &error));
    }

    fn end(&mut self, number: u32, now: Time, switch: &mut Switch, error: &io::Error) {
        let Some(channel) = self.channels.remove(&number) else { return };
        switch.disconnect(ConnectionId(number));
        for target in self.targets.iter_mut().filter(|target| target.channel == Some(number)) {
            (target.channel, target.retry) = (None, now + RECONNECT_INTERVAL);
            target.note_failure(error);
        }
        if channel.liveness.has_greeted() {
            info!(peer = %channel.peer, "the controller's connection has ended: {error}");
        }
    }
}

impl Target {
    /// Logs a failure of TLS once, until there is another.
    fn note_failure(&mut self, error: &io::Error) {
        if !self.controller.tls || error.kind() != io::ErrorKind::InvalidData {
            return;
        }
        let failure = explain(Role::Controller, error);
        if failure != self.failure {
            warn!(controller = %self.controller.address, "no connection: {failure}");
            self.failure = failure;
        }
    }
}

impl Channel {
    /// What to wait for. A peer that does not read is not read from, until it does.
    fn wants(&self, unsent: usize) -> Interest {
        let write = self.paused || self.stream.wants_write(unsent > 0);
        Interest { read: !self.paused && unsent < MAX_UNSENT, write }
    }

    fn read(&mut self) -> io::Result<()> {
        let start = self.unread.len();
        self.unread.resize(start + READ_CHUNK, 0);
        let result = self.stream.read(self.unread.get_mut(start..).unwrap_or_default());
        self.unread.truncate(start + result.as_ref().map_or(0, |length| *length));
        match result {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }

    /// Handles the messages that have arrived, as long as their answers are read.
    fn handle(&mut self, now: Time, number: u32, switch: &mut Switch) -> io::Result<()> {
        let mut rest = self.unread.as_slice();
        self.paused = false;
        while let Some(length) = frame_length(rest).map_err(io::Error::other)? {
            if switch.unsent(ConnectionId(number)) >= MAX_UNSENT {
                self.paused = true;
                break;
            }
            let (message, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            if !self.liveness.has_greeted() {
                info!(peer = %self.peer, "a controller has connected");
            }
            self.liveness.handle_message(now);
            switch.handle_message(now, ConnectionId(number), message);
            rest = after;
        }
        let done = self.unread.len().saturating_sub(rest.len());
        self.unread.drain(..done);
        Ok(())
    }

    /// Writes what waits, and handles messages that waited for it.
    fn flush(&mut self, now: Time, number: u32, switch: &mut Switch) -> io::Result<()> {
        if let Some(bytes) = switch.poll_bytes(ConnectionId(number)) {
            self.write(bytes)?;
        }
        if self.paused { self.handle(now, number, switch) } else { Ok(()) }
    }

    fn write(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.stream.flush()?;
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(written) => _ = bytes.drain(..written),
                // A connection that is not established cannot be written to yet.
                Err(error) if blocks(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn blocks(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected | io::ErrorKind::Interrupted
    )
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn begin(address: SocketAddr) -> io::Result<TcpStream> {
    const EINPROGRESS: i32 = 115;
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(EINPROGRESS) => Err(error),
        _ => Ok(socket.into()),
    }
}
