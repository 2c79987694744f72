//! TLS handshakes of switches, on a thread of their own: a signature takes a millisecond, in which no packet would be answered.
//!
//! The number of handshakes, the time and the bytes of each are bounded, and how many a network begins a second. Where too
//! many are half-done, the oldest of the address with the most gives way: an honest one takes milliseconds.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use braid_cluster::MemberId;
use braid_tls::{PeerCertificate, Role, TlsStream, Transport, explain};
use braid_types::DatapathId;
use rustix::process::nice;
use tokio::io::Interest;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tracing::debug;

use super::accept::{Accepted, accept_queue};
use super::channel::Lent;
use super::handshakes::{Handshakes, Place};
use super::outbox::Slot;
use crate::clock::Clock;
use crate::openflow_tls::OpenFlowTls;
use crate::peer_limit::{PeerLimits, prefix};
use crate::rate::Rates;
use crate::tasks::Tasks;

/// Handshakes at a time; each has up to some 100 KiB.
const LIMITS: PeerLimits = PeerLimits { address: 32, prefix: 64, loopback: 256, total: 256 };
/// Handshakes a second from one network of other machines, and as many at once: each costs a signature.
const RATE: u32 = 128;
/// How much sooner the engine's thread has a core that both want, as before HTTP's.
const NICE: i32 = 10;
/// The longest handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The first byte of a TLS handshake. RFC 8446 §5.1. OpenFlow begins with its version, a small number.
const TLS_HANDSHAKE: u8 = 22;

/// A connection that the engine's thread can serve, or that was refused.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A connection, with the certificate that the switch proved to have.
    Open { transport: Transport, address: SocketAddr, certificate: Option<PeerCertificate> },
    /// A connection that failed.
    Refused { address: SocketAddr, why: String },
    /// A connection with a standby that passes on what a switch sends.
    Relayed { transport: Transport, relayed: Relayed },
    /// It is asked where this switch is, and what it has proved.
    Locate { dpid: DatapathId, to: oneshot::Sender<Located> },
    /// A standby's connection with this switch is to be passed on to the leader.
    Lend { dpid: DatapathId, to: oneshot::Sender<Box<Lent>> },
    /// It is passed on no more.
    Returned(Box<Lent>),
}

/// A switch that the leader reaches through a standby.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Relayed {
    pub(crate) dpid: DatapathId,
    /// The switch's address, as the standby sees it.
    pub(crate) address: SocketAddr,
    pub(crate) via: MemberId,
    /// The names of the certificate that it has shown to the standby, if it has one.
    pub(crate) certificate: Option<Vec<String>>,
}

/// Where a switch is, and the names of the certificate that it has shown, if it has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Located {
    pub(crate) address: SocketAddr,
    pub(crate) certificate: Option<Vec<String>>,
}

impl From<Accepted> for Incoming {
    fn from((stream, address): Accepted) -> Self {
        Self::Open { transport: Transport::Plain(stream), address, certificate: None }
    }
}

/// Starts the thread: it takes accepted connections and passes on those whose handshake is done.
pub(crate) fn start_handshakes(
    tasks: &mut Tasks,
    tls: OpenFlowTls,
    done: mpsc::Sender<Incoming>,
) -> io::Result<mpsc::Sender<Accepted>> {
    let (accepted, queue) = accept_queue();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let serve = move || {
        // Packets come first. Where it is not allowed, both are equals.
        let _ = nice(NICE);
        runtime.block_on(serve(&tls, queue, &done));
    };
    tasks.spawn_thread("openflow-tls", serve)?;
    Ok(accepted)
}

/// Runs handshakes until nobody accepts connections any more.
async fn serve(tls: &OpenFlowTls, mut queue: mpsc::Receiver<Accepted>, done: &mpsc::Sender<Incoming>) {
    let (mut running, mut admission) = (JoinSet::new(), Admission::new());
    loop {
        tokio::select! {
            accepted = queue.recv() => {
                let Some((stream, address)) = accepted else { return };
                let refused = |address, why: &str| {
                    // Where this queue is full, there is enough to report.
                    let _ = done.try_send(Incoming::Refused { address, why: why.to_owned() });
                };
                admission.reap();
                if !admission.is_within_rate(address.ip()) {
                    refused(address, "its network (/24, /64) begins too many TLS handshakes a second");
                    continue;
                }
                if let Some(oldest) = admission.make_room(address.ip()) {
                    refused(oldest, "its handshake was not done when a newer connection needed the place");
                }
                admission.note(running.spawn(admit(tls.clone(), stream, address, done.clone())), address);
            }
            Some(_) = running.join_next() => {}
        }
    }
}

/// The handshakes that are going on, by address and network.
struct Admission {
    clock: Clock,
    rates: Rates,
    handshakes: Handshakes,
    open: BTreeMap<Slot, (AbortHandle, SocketAddr, Place)>,
    last: Slot,
}

impl Admission {
    fn new() -> Self {
        let (rates, handshakes) = (Rates::new(RATE), Handshakes::new(LIMITS));
        Self { clock: Clock::start(), rates, handshakes, open: BTreeMap::new(), last: 0 }
    }

    /// Whether the network of this address may begin one more now. The controller's own machine has no limit.
    fn is_within_rate(&mut self, address: IpAddr) -> bool {
        address.to_canonical().is_loopback() || self.rates.take(self.clock.now(), prefix(address))
    }

    /// Forgets handshakes that are done.
    fn reap(&mut self) {
        let handshakes = &mut self.handshakes;
        self.open.retain(|number, (handshake, _, place)| {
            let goes_on = !handshake.is_finished();
            if !goes_on {
                handshakes.end(*place, *number);
            }
            goes_on
        });
    }

    /// Ends the oldest handshake of the address with the most, where there is no room for one from `address`.
    fn make_room(&mut self, address: IpAddr) -> Option<SocketAddr> {
        let number = self.handshakes.must_close(address)?;
        let (oldest, address, place) = self.open.remove(&number)?;
        oldest.abort();
        self.handshakes.end(place, number);
        Some(address)
    }

    fn note(&mut self, handshake: AbortHandle, address: SocketAddr) {
        self.last = self.last.wrapping_add(1);
        let place = self.handshakes.begin(address.ip(), self.last);
        self.open.insert(self.last, (handshake, address, place));
    }
}

async fn admit(tls: OpenFlowTls, stream: TcpStream, address: SocketAddr, done: mpsc::Sender<Incoming>) {
    let opened = tokio::time::timeout(HANDSHAKE_TIMEOUT, open(&tls, stream)).await;
    let incoming = match opened {
        Ok(Ok((transport, certificate))) => Incoming::Open { transport, address, certificate },
        // Monitoring connects and leaves, too.
        Ok(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => {
            return debug!(%address, "the connection was closed during its TLS handshake");
        }
        Ok(Err(error)) => Incoming::Refused { address, why: explain(Role::Switch, &error) },
        Err(_) => {
            let why = format!("the TLS handshake is not done after {} s", HANDSHAKE_TIMEOUT.as_secs());
            Incoming::Refused { address, why }
        }
    };
    // The controller may have stopped.
    let _ = done.send(incoming).await;
}

async fn open(tls: &OpenFlowTls, stream: TcpStream) -> io::Result<(Transport, Option<PeerCertificate>)> {
    // The runtime watches a copy of the descriptor, so that the socket itself can move to the engine's thread.
    let watched = tokio::net::TcpStream::from_std(stream.try_clone()?)?;
    if !tls.is_required() && first_byte(&watched).await? != TLS_HANDSHAKE {
        return Ok((Transport::Plain(stream), None));
    }
    let mut stream = TlsStream::accept(stream, tls.server())?;
    handshake(&watched, &mut stream).await?;
    let certificate = stream.peer_certificate();
    let certificate = certificate.ok_or_else(|| io::Error::other("the certificate cannot be read"))?;
    Ok((Transport::Tls(Box::new(stream)), Some(certificate)))
}

async fn first_byte(stream: &tokio::net::TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    match stream.peek(&mut byte).await? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(byte[0]),
    }
}

async fn handshake(watched: &tokio::net::TcpStream, stream: &mut TlsStream) -> io::Result<()> {
    loop {
        let interest = if stream.has_unsent() { Interest::WRITABLE } else { Interest::READABLE };
        watched.ready(interest).await?;
        let done = watched.try_io(interest, || match stream.handshake()? {
            true => Ok(()),
            false => Err(ErrorKind::WouldBlock.into()),
        });
        match done {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        SocketAddr::new(text.parse().expect("an address"), 1)
    }

    /// Begins a handshake that never ends; whose gave way to it.
    fn begin(admission: &mut Admission, running: &mut JoinSet<()>, from: &str) -> Option<SocketAddr> {
        let from = address(from);
        let oldest = admission.make_room(from.ip());
        admission.note(running.spawn(std::future::pending()), from);
        oldest
    }

    #[tokio::test]
    async fn one_network_s_handshakes_leave_places_to_others() {
        let (mut admission, mut running) = (Admission::new(), JoinSet::new());
        let crowd: Vec<_> = (0..1_000).map(|it| format!("10.66.2.{}", it % 250)).collect();
        let evicted = crowd.iter().filter_map(|from| begin(&mut admission, &mut running, from)).count();
        assert_eq!((admission.open.len(), evicted), (LIMITS.prefix, 1_000 - LIMITS.prefix));
        let others = (0..100).map(|it| format!("10.66.{}.1", 3 + it));
        assert!(others.into_iter().all(|from| begin(&mut admission, &mut running, &from).is_none()));
    }

    #[tokio::test]
    async fn a_network_begins_so_many_handshakes_a_second_and_others_are_not_held_up() {
        let mut admission = Admission::new();
        let begun = |admission: &mut Admission, from: &str| {
            let from = address(from).ip();
            (0..1_000).filter(|_| admission.is_within_rate(from)).count()
        };
        assert!((RATE as usize..300).contains(&begun(&mut admission, "10.66.2.1")));
        assert!(begun(&mut admission, "10.66.2.2") < 100, "the same network");
        assert!(begun(&mut admission, "10.66.3.1") >= RATE as usize);
        assert_eq!(begun(&mut admission, "127.0.0.1"), 1_000);
    }
}
