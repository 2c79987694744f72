//! OpenFlow connections with controllers, incoming and outgoing.

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
use crate::poller::{Poller, Token};
use crate::tls::Tls;

/// The interval of attempts to connect to a controller.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);
/// Incoming connections at a time. Those to the edge's own controllers have places of their own.
const MAX_INCOMING: usize = 32;
/// The interval at which silent connections are looked for.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
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
    /// Whether the poller reports when it can be written to.
    blocked: bool,
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
            let target = &self.targets[index];
            if target.channel.is_some() || target.retry > now {
                continue;
            }
            let controller = target.controller;
            let stream = self.open(controller).ok();
            let channel = stream.and_then(|stream| self.add(now, stream, controller.address, poller, switch));
            self.targets[index].channel = channel;
            self.targets[index].retry = now + RECONNECT_INTERVAL;
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
        let channel = Channel { stream, peer, unread, blocked: true, incoming: false, liveness };
        self.channels.insert(number, channel);
        Some(number)
    }

    /// Reads from a controller.
    pub(crate) fn serve(&mut self, number: u32, now: Time, switch: &mut Switch) {
        let Some(channel) = self.channels.get_mut(&number) else { return };
        if let Err(error) =
            channel.read(now, |message| switch.handle_message(now, ConnectionId(number), message))
        {
            self.end(number, now, switch, &error);
        }
    }

    /// Writes pending messages to controllers.
    pub(crate) fn flush(&mut self, now: Time, poller: &Poller, switch: &mut Switch) {
        let mut ended = Vec::new();
        for (number, channel) in &mut self.channels {
            let Some(bytes) = switch.poll_bytes(ConnectionId(*number)) else { continue };
            if let Err(error) = channel.write(bytes) {
                ended.push((*number, error));
                continue;
            }
            let blocked = channel.stream.wants_write(!bytes.is_empty());
            if blocked != channel.blocked {
                channel.blocked = blocked;
                poller.change(&channel.stream, Token::Channel(*number), blocked);
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
    fn read(&mut self, now: Time, mut handle: impl FnMut(&[u8])) -> io::Result<()> {
        let start = self.unread.len();
        self.unread.resize(start + READ_CHUNK, 0);
        let result = self.stream.read(self.unread.get_mut(start..).unwrap_or_default());
        self.unread.truncate(start + result.as_ref().map_or(0, |length| *length));
        match result {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(()),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        let mut rest = self.unread.as_slice();
        while let Some(length) = frame_length(rest).map_err(io::Error::other)? {
            let (message, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            if !self.liveness.has_greeted() {
                info!(peer = %self.peer, "a controller has connected");
            }
            self.liveness.handle_message(now);
            handle(message);
            rest = after;
        }
        let done = self.unread.len() - rest.len();
        self.unread.drain(..done);
        Ok(())
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
