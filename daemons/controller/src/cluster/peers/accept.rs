//! Connections that other members open, and on which this one listens.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use braid_cluster::{ConnectionId, MemberId, Message};
use tokio::sync::mpsc::Sender;
use tracing::{debug, warn};

use super::lines::{Lines, write_line};
use super::{GREETING_TIMEOUT, Greeting, Hello, Incoming, SILENCE, spawn};
use crate::peer_limit::{PeerCounts, PeerLimitError, PeerLimits};

/// Connections at the same time. A member has one, and another one while it connects anew.
const LIMITS: PeerLimits = PeerLimits { address: 8, prefix: 64, loopback: 64, total: 128 };

/// What all connections share.
struct Listening {
    hello: Hello,
    incoming: Sender<Incoming>,
    counts: Mutex<PeerCounts>,
    /// The newest connection from each member.
    open: Mutex<BTreeMap<MemberId, (ConnectionId, TcpStream)>>,
}

/// Accepts other members of the cluster.
pub(in crate::cluster) fn accept(listener: TcpListener, hello: Hello, incoming: Sender<Incoming>) {
    let counts = Mutex::new(PeerCounts::new(LIMITS));
    let listening = Arc::new(Listening { hello, incoming, counts, open: Mutex::default() });
    spawn("cluster-accept", move || {
        for (number, stream) in (0..).zip(listener.incoming().flatten()) {
            let Ok(from) = stream.peer_addr().map(|it| it.ip()) else { continue };
            if let Err(why) = listening.take_place(from) {
                debug!(%from, %why, "a connection of a member was refused");
                continue;
            }
            let listening = listening.clone();
            spawn("cluster-in", move || {
                if let Err(why) = listening.serve(stream, ConnectionId(number)) {
                    debug!(%from, %why, "a connection of a member ended");
                }
                lock(&listening.counts).remove(from);
            });
        }
    });
}

impl Listening {
    fn take_place(&self, from: IpAddr) -> Result<(), PeerLimitError> {
        let mut counts = lock(&self.counts);
        counts.check(from)?;
        counts.add(from);
        Ok(())
    }

    /// Greets, and passes messages on until the connection ends or is silent.
    fn serve(&self, stream: TcpStream, connection: ConnectionId) -> io::Result<()> {
        stream.set_write_timeout(Some(GREETING_TIMEOUT))?;
        let mut lines = Lines::new(stream.try_clone()?);
        let theirs: Hello = serde_json::from_value(lines.next(GREETING_TIMEOUT)?)?;
        let refused = self.hello.refusal(&theirs);
        if let Some(why) = &refused {
            warn!(member = %theirs.member, from = ?stream.peer_addr(), why, "another member was refused");
        }
        let is_refused = refused.is_some();
        write_line(&stream, &Greeting { hello: self.hello.clone(), refused })?;
        if is_refused {
            return Ok(());
        }
        self.note_open(&theirs.member, connection, stream);
        self.pass(Incoming::Opened(theirs.member.clone(), connection))?;
        let ended = self.receive(&theirs.member, &mut lines);
        self.note_closed(&theirs.member, connection);
        self.pass(Incoming::Closed(theirs.member, connection))?;
        ended
    }

    /// Ends the member's older connection, which this one replaces.
    fn note_open(&self, member: &MemberId, connection: ConnectionId, stream: TcpStream) {
        let before = lock(&self.open).insert(member.clone(), (connection, stream));
        // It may have ended by itself.
        let _ = before.map(|(_, stream)| stream.shutdown(Shutdown::Both));
    }

    fn note_closed(&self, member: &MemberId, connection: ConnectionId) {
        let mut open = lock(&self.open);
        if open.get(member).is_some_and(|(newest, _)| *newest == connection) {
            open.remove(member);
        }
    }

    fn receive(&self, member: &MemberId, lines: &mut Lines) -> io::Result<()> {
        loop {
            // A newer version may say more than this one knows.
            if let Ok(message) = serde_json::from_value::<Message>(lines.next(SILENCE)?) {
                self.pass(Incoming::Message(member.clone(), message))?;
            }
        }
    }

    fn pass(&self, incoming: Incoming) -> io::Result<()> {
        self.incoming.blocking_send(incoming).map_err(io::Error::other)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
