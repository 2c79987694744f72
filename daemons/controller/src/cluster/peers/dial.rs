//! Connections that this member opens, and sends on.

use std::io;
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use braid_cluster::Message;
use braid_tls::{Role, explain, is_tls_failure};
use tracing::{info, warn};

use super::lines::Lines;
use super::tls::Secured;
use super::{GREETING_TIMEOUT, Greeting, Hello, KEEPALIVE_INTERVAL, Local, Refusals, VERSION, spawn};
use crate::cluster::fronts::Switch;

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
    /// The other end is no member, as far as its certificate says.
    #[error("{why}")]
    Foreign { peer: IpAddr, why: String },
    /// Nobody sends any more.
    #[error("it is not needed any more")]
    Over,
}

/// A connection on which both ends have greeted.
struct Open {
    lines: Lines,
    greeting: Greeting,
}

/// Sends messages to the member at this address, over a connection that is opened again whenever it ends.
pub(in crate::cluster) fn connect(local: Local, address: String, refusals: Refusals) -> SyncSender<Message> {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    spawn("cluster-out", move || {
        loop {
            match send_all(&local, &address, &receiver) {
                Err(DialError::Over) => return,
                Err(DialError::Refused(why)) => {
                    warn!(address, why, "another member refuses this one");
                    thread::sleep(RETRY_REFUSED);
                }
                Err(DialError::Foreign { peer, why }) => {
                    refusals.note(peer, why);
                    thread::sleep(RETRY_REFUSED);
                }
                Err(DialError::Io(_)) | Ok(()) => thread::sleep(RETRY),
            }
        }
    });
    sender
}

/// Who listens there, if somebody greets.
pub(in crate::cluster) fn identify(local: &Local, address: &str) -> Option<Hello> {
    open(local, address).ok().map(|open| open.greeting.hello)
}

/// A connection over which the member at this address tells what it knows.
///
/// # Errors
/// It does not, or cannot be reached.
pub(in crate::cluster) fn follow(local: &Local, address: &str, refusals: &Refusals) -> Result<Lines, String> {
    open_for(Hello { follows: true, ..local.hello.clone() }, local, address, refusals)
}

/// A connection over which the member at this address is offered switches.
///
/// # Errors
/// It takes none, or cannot be reached.
pub(in crate::cluster) fn offer(local: &Local, address: &str, refusals: &Refusals) -> Result<Lines, String> {
    open_for(Hello { offers: true, ..local.hello.clone() }, local, address, refusals)
}

/// A connection over which the member at this address speaks OpenFlow with a switch, if it serves it.
///
/// # Errors
/// It takes none, or cannot be reached.
pub(in crate::cluster) fn relay(
    local: &Local,
    address: &str,
    switch: Switch,
    refusals: &Refusals,
) -> Result<Lines, String> {
    open_for(Hello { relays: Some(switch), ..local.hello.clone() }, local, address, refusals)
}

fn open_for(hello: Hello, local: &Local, address: &str, refusals: &Refusals) -> Result<Lines, String> {
    let opened = open(&Local { hello, tls: local.tls.clone() }, address);
    let Open { lines, greeting: Greeting { hello: theirs, refused } } = opened.map_err(|error| {
        let text = error.to_string();
        if let DialError::Foreign { peer, why } = error {
            refusals.note(peer, why);
        }
        text
    })?;
    refused.or_else(|| local.hello.refusal(&theirs)).map_or(Ok(lines), Err)
}

/// Opens a connection with a member.
fn open(local: &Local, address: &str) -> Result<Open, DialError> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for resolved in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&resolved, CONNECT_TIMEOUT) {
            Ok(stream) => return greet(stream, local, resolved.ip()),
            Err(error) => last = error,
        }
    }
    Err(last.into())
}

fn greet(stream: TcpStream, local: &Local, peer: IpAddr) -> Result<Open, DialError> {
    let secured = Secured::connect(local.tls.as_ref(), stream, Instant::now() + GREETING_TIMEOUT);
    let mut secured = secured.map_err(|error| failure(error, peer))?;
    secured.lines.write(&local.hello, CONNECT_TIMEOUT)?;
    // With TLS 1.3 this is where a certificate is refused.
    let greeting = secured.lines.next(GREETING_TIMEOUT).map_err(|error| failure(error, peer))?;
    let greeting: Greeting = serde_json::from_value(greeting).map_err(io::Error::from)?;
    match secured.impostor(&greeting.hello.member) {
        Some(why) => Err(DialError::Foreign { peer, why }),
        None => Ok(Open { lines: secured.lines, greeting }),
    }
}

fn failure(error: io::Error, peer: IpAddr) -> DialError {
    if is_tls_failure(&error) {
        return DialError::Foreign { peer, why: explain(Role::Member, &error) };
    }
    error.into()
}

/// Sends until the connection ends.
fn send_all(local: &Local, address: &str, receiver: &Receiver<Message>) -> Result<(), DialError> {
    let Open { mut lines, greeting } = match open(local, address) {
        Ok(opened) => opened,
        Err(error) => return Err(idle(receiver).err().unwrap_or(error)),
    };
    let Greeting { hello: theirs, refused } = greeting;
    if let Some(why) = refused.or_else(|| local.hello.refusal(&theirs)) {
        return Err(DialError::Refused(why));
    }
    if theirs.version != VERSION {
        let common = local.hello.common_version(&theirs).map_err(DialError::Refused)?;
        info!(member = %theirs.member, common, "another member has another version of the cluster's protocol");
    }
    // What waited for the connection is old.
    while receiver.try_recv().is_ok() {}
    loop {
        match receiver.recv_timeout(KEEPALIVE_INTERVAL) {
            Ok(message) => lines.write(&message, CONNECT_TIMEOUT)?,
            Err(RecvTimeoutError::Timeout) => lines.write(&NOTHING, CONNECT_TIMEOUT)?,
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
