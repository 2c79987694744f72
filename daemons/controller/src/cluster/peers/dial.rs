//! Connections that this member opens, and sends on.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use braid_cluster::Message;
use tracing::{info, warn};

use super::lines::{Lines, write_line};
use super::{GREETING_TIMEOUT, Greeting, Hello, IDLE, VERSION, spawn};

/// Messages that wait for a member; further ones are dropped, and heartbeats follow.
const MAX_WAITING: usize = 16;
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);
const RETRY: Duration = Duration::from_millis(100);
/// The same after the other end has refused this member.
const RETRY_REFUSED: Duration = Duration::from_secs(5);
/// A line that every version ignores.
const NOTHING: &str = "idle";

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
enum DialError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Refused(String),
    /// Nobody sends any more.
    #[error("it is not needed any more")]
    Over,
}

/// Sends messages to the member at this address, over a connection that is opened again whenever it ends.
pub(in crate::cluster) fn connect(hello: Hello, address: String) -> SyncSender<Message> {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    spawn("cluster-out", move || {
        loop {
            match send_all(&hello, &address, &receiver) {
                Err(DialError::Over) => return,
                Err(DialError::Refused(why)) => {
                    warn!(address, why, "another member refuses this one");
                    thread::sleep(RETRY_REFUSED);
                }
                Err(DialError::Io(_)) | Ok(()) => thread::sleep(RETRY),
            }
        }
    });
    sender
}

/// Who listens there, if somebody greets.
pub(in crate::cluster) fn identify(hello: &Hello, address: &str) -> Option<Hello> {
    open(hello, address).ok().map(|(_, greeting)| greeting.hello)
}

/// Opens a connection; the greeting of the other end.
fn open(hello: &Hello, address: &str) -> io::Result<(TcpStream, Greeting)> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for resolved in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&resolved, CONNECT_TIMEOUT) {
            Ok(stream) => return greet(stream, hello),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn greet(stream: TcpStream, hello: &Hello) -> io::Result<(TcpStream, Greeting)> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(CONNECT_TIMEOUT))?;
    write_line(&stream, hello)?;
    let greeting = Lines::new(stream.try_clone()?).next(GREETING_TIMEOUT)?;
    Ok((stream, serde_json::from_value(greeting)?))
}

/// Sends until the connection ends.
fn send_all(hello: &Hello, address: &str, receiver: &Receiver<Message>) -> Result<(), DialError> {
    let (stream, Greeting { hello: theirs, refused }) = match open(hello, address) {
        Ok(opened) => opened,
        Err(error) => return Err(idle(receiver).err().unwrap_or_else(|| error.into())),
    };
    if let Some(why) = refused.or_else(|| hello.refusal(&theirs)) {
        return Err(DialError::Refused(why));
    }
    if theirs.version != VERSION {
        let common = hello.common_version(&theirs).map_err(DialError::Refused)?;
        info!(member = %theirs.member, common, "another member has another version of the cluster's protocol");
    }
    // What waited for the connection is old.
    while receiver.try_recv().is_ok() {}
    loop {
        match receiver.recv_timeout(IDLE) {
            Ok(message) => write_line(&stream, &message)?,
            Err(RecvTimeoutError::Timeout) => write_line(&stream, &NOTHING)?,
            Err(RecvTimeoutError::Disconnected) => return Err(DialError::Over),
        }
    }
}

/// Forgets what waits; an error if nobody sends any more.
fn idle(receiver: &Receiver<Message>) -> Result<(), DialError> {
    loop {
        match receiver.try_recv() {
            Ok(_) => {}
            Err(TryRecvError::Empty) => return Ok(()),
            Err(TryRecvError::Disconnected) => return Err(DialError::Over),
        }
    }
}
