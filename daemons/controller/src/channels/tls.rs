//! TLS handshakes of switches, on a thread of their own: a signature takes a millisecond, in which no packet would be answered.
//!
//! The number of handshakes, the time and the bytes of each are bounded. Where too many are half-done, the oldest of the
//! address with the most gives way: an honest one takes milliseconds.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use braid_tls::{PeerCertificate, Role, TlsStream, Transport, explain};
use rustix::process::nice;
use tokio::io::Interest;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tracing::debug;

use super::accept::{Accepted, accept_queue};
use crate::openflow_tls::OpenFlowTls;

/// Handshakes at a time; each has up to some 100 KiB.
const MAX_HANDSHAKES: usize = 256;
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
}

impl From<Accepted> for Incoming {
    fn from((stream, address): Accepted) -> Self {
        Self::Open { transport: Transport::Plain(stream), address, certificate: None }
    }
}

/// Starts the thread: it takes accepted connections and passes on those whose handshake is done.
pub(crate) fn start_handshakes(
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
    thread::Builder::new().name("openflow-tls".to_owned()).spawn(serve)?;
    Ok(accepted)
}

/// Runs handshakes until nobody accepts connections any more.
async fn serve(tls: &OpenFlowTls, mut queue: mpsc::Receiver<Accepted>, done: &mpsc::Sender<Incoming>) {
    let mut running = JoinSet::new();
    let mut order = VecDeque::<(AbortHandle, SocketAddr)>::new();
    loop {
        tokio::select! {
            accepted = queue.recv() => {
                let Some((stream, address)) = accepted else { return };
                order.retain(|(handshake, _)| !handshake.is_finished());
                if order.len() >= MAX_HANDSHAKES && let Some((oldest, address)) = take_crowding(&mut order) {
                    oldest.abort();
                    let why = "its handshake was not done when a newer connection needed the place".to_owned();
                    // Where this queue is full, there is enough to report.
                    let _ = done.try_send(Incoming::Refused { address, why });
                }
                let handshake = running.spawn(admit(tls.clone(), stream, address, done.clone()));
                order.push_back((handshake, address));
            }
            Some(_) = running.join_next() => {}
        }
    }
}

/// Takes the oldest handshake of the address that has most of them.
fn take_crowding(order: &mut VecDeque<(AbortHandle, SocketAddr)>) -> Option<(AbortHandle, SocketAddr)> {
    let mut counts = BTreeMap::<IpAddr, usize>::new();
    order.iter().for_each(|(_, address)| *counts.entry(address.ip()).or_default() += 1);
    let most = counts.values().copied().max()?;
    // Of equally many, the oldest: honest handshakes are short.
    let oldest = order.iter().position(|(_, address)| counts.get(&address.ip()) == Some(&most))?;
    order.remove(oldest)
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
