//! Connections that other members open, and on which this one listens.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use braid_cluster::{ConnectionId, MemberId, Message};
use braid_tls::{Role, explain, is_tls_failure};
use tokio::sync::mpsc::Sender;
use tracing::{debug, warn};

use super::lines::Lines;
use super::tls::Secured;
use super::{GREETING_TIMEOUT, Greeting, Hello, Incoming, Local, Refusals, SILENCE, spawn};
use crate::cluster::facts::{self, Publication};
use crate::cluster::fronts::Admission;
use crate::peer_limit::{PeerCounts, PeerLimitError, PeerLimits};

/// Connections at the same time. A member has one, one that follows, one that offers switches,
/// and others while it connects anew. That of a switch counts until it is greeted.
const LIMITS: PeerLimits = PeerLimits { address: 8, prefix: 64, loopback: 64, total: 128 };

/// What all connections share.
struct Listening {
    local: Local,
    incoming: Sender<Incoming>,
    refusals: Refusals,
    services: Services,
    counts: Mutex<PeerCounts>,
    /// The newest connection from each member.
    open: Mutex<BTreeMap<MemberId, (ConnectionId, TcpStream)>>,
}

/// What others may ask of this member, apart from messages.
#[derive(Clone, Default)]
pub(in crate::cluster) struct Services {
    pub(in crate::cluster) publication: Publication,
    /// `None`: switches are not served through standbys.
    pub(in crate::cluster) admission: Option<Admission>,
}

impl Services {
    /// Why this member does not do what another one asks for, if it does not.
    fn refusal(&self, theirs: &Hello) -> Option<String> {
        if theirs.follows {
            return self.publication.refusal();
        }
        if theirs.offers || theirs.relays.is_some() {
            let nobody = || Some("it serves no switches through others".to_owned());
            return self.admission.as_ref().map_or_else(nobody, Admission::refusal);
        }
        None
    }
}

/// Accepts other members of the cluster.
pub(in crate::cluster) fn accept(
    listener: TcpListener,
    local: Local,
    incoming: Sender<Incoming>,
    services: Services,
) {
    let counts = Mutex::new(PeerCounts::new(LIMITS));
    let refusals = Refusals::new(incoming.clone());
    let listening = Listening { local, incoming, refusals, services, counts, open: Mutex::default() };
    let listening = Arc::new(listening);
    spawn("cluster-accept", move || {
        for (number, stream) in (0..).zip(listener.incoming().flatten()) {
            let Ok(from) = stream.peer_addr().map(|it| it.ip()) else { continue };
            if let Err(why) = listening.take_place(from) {
                debug!(%from, %why, "a connection of a member was refused");
                continue;
            }
            let listening = listening.clone();
            spawn("cluster-in", move || {
                if let Err(why) = listening.serve(from, stream, ConnectionId(number)) {
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
    fn serve(&self, from: IpAddr, stream: TcpStream, connection: ConnectionId) -> io::Result<()> {
        let socket = stream.try_clone()?;
        let secured = Secured::accept(self.local.tls.as_ref(), stream, Instant::now() + GREETING_TIMEOUT);
        let secured = secured.inspect_err(|error| self.note_failure(from, error))?;
        let Some((theirs, mut lines)) = self.greet(from, secured)? else { return Ok(()) };
        if theirs.follows {
            return facts::serve(&self.services.publication, &theirs.member, lines);
        }
        match (&self.services.admission, theirs.relays) {
            (Some(admission), Some(switch)) => return admission.take(&theirs.member, switch, lines),
            (Some(admission), None) if theirs.offers => return admission.serve(&theirs.member, lines),
            _ => {}
        }
        self.note_open(&theirs.member, connection, socket);
        self.pass(Incoming::Opened(theirs.member.clone(), connection))?;
        let ended = self.receive(&theirs.member, &mut lines);
        self.note_closed(&theirs.member, connection);
        self.pass(Incoming::Closed(theirs.member, connection))?;
        ended
    }

    /// Answers a greeting; `None` if whoever greets is refused.
    fn greet(&self, from: IpAddr, mut secured: Secured) -> io::Result<Option<(Hello, Lines)>> {
        let theirs: Hello = serde_json::from_value(secured.lines.next(GREETING_TIMEOUT)?)?;
        let impostor = secured.impostor(&theirs.member);
        impostor.iter().for_each(|why| self.refusals.note(from, why.clone()));
        let refused = self.local.hello.refusal(&theirs);
        if let Some(why) = &refused {
            warn!(member = %theirs.member, %from, why, "another member was refused");
        }
        let refused = refused.or(impostor).or_else(|| self.services.refusal(&theirs));
        let is_refused = refused.is_some();
        secured.lines.write(&Greeting { hello: self.local.hello.clone(), refused }, GREETING_TIMEOUT)?;
        Ok((!is_refused).then_some((theirs, secured.lines)))
    }

    /// A connection whose certificate is not one of the cluster, or that has none.
    fn note_failure(&self, from: IpAddr, error: &io::Error) {
        if is_tls_failure(error) {
            self.refusals.note(from, explain(Role::Member, error));
        }
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
