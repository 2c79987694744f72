//! The connection with one database, and what was heard of it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::time::Duration;

use braid_types::SwitchPort;
use serde_json::Value;
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::OvsdbAddress;
use super::json_rpc::{Inbox, Message, monitor, set_bfd, transact};
use super::plan::{BfdState, PortBfd};
use super::tables::Tables;

/// The interval of attempts to connect.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READ_CHUNK: usize = 64 << 10;
/// Bytes that the database may leave unread.
const MAX_UNSENT: usize = 4 << 20;

/// A database: its address, its content, and what is to be sent to it.
pub(super) struct Database {
    address: OvsdbAddress,
    tables: Tables,
    out: Vec<u8>,
    /// What was asked for, as long as the database does not show it: it is not asked for again.
    asked: BTreeMap<SwitchPort, PortBfd>,
    last_id: u64,
    filled: Rc<Notify>,
}

impl Database {
    pub(super) fn new(address: OvsdbAddress) -> Self {
        let (tables, out, asked) = (Tables::default(), Vec::new(), BTreeMap::new());
        Self { address, tables, out, asked, last_id: 1, filled: Rc::default() }
    }

    /// Its ports, with what it says of their BFD.
    pub(super) fn ports(&self) -> Vec<(SwitchPort, BfdState)> {
        self.tables.ports().map(|port| (port.at, port.bfd)).collect()
    }

    /// Sets BFD at those of the ports that are of this database.
    pub(super) fn set(&mut self, settings: &[(SwitchPort, PortBfd)]) {
        let interfaces: BTreeMap<_, _> = self.tables.ports().map(|port| (port.at, port.interface)).collect();
        let mut operations = Vec::new();
        for (at, bfd) in settings {
            let Some(interface) = interfaces.get(at) else { continue };
            if self.asked.insert(*at, *bfd) != Some(*bfd) {
                note(&self.address, *at, *bfd);
                operations.extend(set_bfd(interface, *bfd));
            }
        }
        if !operations.is_empty() {
            self.last_id = self.last_id.wrapping_add(1).max(2);
            self.send(&transact(self.last_id, operations));
        }
    }

    fn send(&mut self, message: &Value) {
        self.out.extend_from_slice(message.to_string().as_bytes());
        self.filled.notify_one();
    }

    fn connected(&mut self) {
        (self.tables, self.asked) = (Tables::default(), BTreeMap::new());
        self.out.clear();
        self.send(&monitor());
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Update(updates) => {
                self.tables.update(&updates);
                self.asked.clear();
            }
            Message::Echo(answer) => self.send(&answer),
            Message::Refused(why) => {
                warn!(database = %self.address, error = why, "the database refused a request");
            }
            Message::Other => {}
        }
    }
}

fn note(database: &OvsdbAddress, at: SwitchPort, bfd: PortBfd) {
    match bfd {
        PortBfd::On { interval } => {
            info!(%database, %at, interval_ms = interval.as_millis(), "BFD is on at a port of a link");
        }
        PortBfd::Off => warn!(%database, %at, "BFD is turned off: the other end does not answer"),
    }
}

/// Speaks with a database, and connects again whenever that ends.
pub(super) async fn serve(database: Rc<RefCell<Database>>) {
    let mut failure = String::new();
    loop {
        let address = database.borrow().address.clone();
        let ended = match timeout(CONNECT_TIMEOUT, Stream::connect(&address)).await {
            Ok(Ok(stream)) => {
                info!(database = %address, "connected");
                failure.clear();
                converse(&database, &stream).await
            }
            Ok(Err(error)) => error,
            Err(_) => ErrorKind::TimedOut.into(),
        };
        // What is not known any more is left alone.
        database.borrow_mut().tables = Tables::default();
        let text = ended.to_string();
        if text != failure {
            warn!(database = %address, error = text, "no connection with the database; trying again");
            failure = text;
        }
        sleep(RECONNECT_INTERVAL).await;
    }
}

/// Until the connection ends; why.
async fn converse(database: &Rc<RefCell<Database>>, stream: &Stream) -> io::Error {
    database.borrow_mut().connected();
    let filled = database.borrow().filled.clone();
    let (mut inbox, mut room) = (Inbox::default(), vec![0; READ_CHUNK]);
    loop {
        let wants_write = !database.borrow().out.is_empty();
        let done = tokio::select! {
            readable = stream.readable() => readable.and_then(|()| receive(database, stream, &mut inbox, &mut room)),
            writable = stream.writable(), if wants_write => writable.and_then(|()| send(database, stream)),
            () = filled.notified() => Ok(()),
        };
        if let Err(error) = done {
            return error;
        }
    }
}

fn receive(
    database: &Rc<RefCell<Database>>,
    stream: &Stream,
    inbox: &mut Inbox,
    room: &mut [u8],
) -> io::Result<()> {
    match stream.try_read(room) {
        Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
        Ok(read) => inbox.push(room.get(..read).unwrap_or_default()),
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
        Err(error) => return Err(error),
    }
    while let Some(message) = inbox.next().map_err(io::Error::other)? {
        database.borrow_mut().handle(message);
    }
    match database.borrow().out.len() {
        unsent if unsent > MAX_UNSENT => Err(io::Error::other("it does not read")),
        _ => Ok(()),
    }
}

fn send(database: &Rc<RefCell<Database>>, stream: &Stream) -> io::Result<()> {
    let out = &mut database.borrow_mut().out;
    match stream.try_write(out) {
        Ok(written) => _ = out.drain(..written),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// A connection of either kind.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    async fn connect(address: &OvsdbAddress) -> io::Result<Self> {
        Ok(match address {
            OvsdbAddress::Tcp(address) => Self::Tcp(TcpStream::connect(address).await?),
            OvsdbAddress::Unix(file) => Self::Unix(UnixStream::connect(file).await?),
        })
    }

    async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.readable().await,
            Self::Unix(stream) => stream.readable().await,
        }
    }

    async fn writable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.writable().await,
            Self::Unix(stream) => stream.writable().await,
        }
    }

    fn try_read(&self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_read(room),
            Self::Unix(stream) => stream.try_read(room),
        }
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
        }
    }
}
