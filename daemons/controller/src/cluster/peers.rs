//! Connections between members: lines of JSON over TCP. Each member sends on those that it opens.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use braid_cluster::{MemberId, Message};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;
use tracing::{debug, warn};

/// Messages that wait for a member; further ones are dropped, and heartbeats follow.
const MAX_WAITING: usize = 16;
/// Members that may connect at the same time.
const MAX_MEMBERS: usize = 64;
/// Bytes of a line.
const MAX_LINE: u64 = 4 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);
const RETRY: Duration = Duration::from_millis(100);

/// The first line of a connection.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Hello {
    cluster: String,
    member: MemberId,
}

/// What comes from another member.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(MemberId, Message),
    Closed(MemberId),
}

/// Sends messages to the member at this address, over a connection that is opened again whenever it ends.
pub(super) fn connect(cluster: &str, member: &MemberId, address: String) -> SyncSender<Message> {
    let hello = Hello { cluster: cluster.to_owned(), member: member.clone() };
    let (sender, receiver) = sync_channel(MAX_WAITING);
    spawn("cluster-out", move || {
        while let Some(()) = send_all(&hello, &address, &receiver) {
            thread::sleep(RETRY);
        }
    });
    sender
}

/// Sends until the connection ends; nothing once nobody sends any more.
fn send_all(hello: &Hello, address: &str, receiver: &Receiver<Message>) -> Option<()> {
    // What waited for the connection is old.
    while receiver.try_recv().is_ok() {}
    let resolved = address.parse().ok()?;
    let Ok(mut stream) = TcpStream::connect_timeout(&resolved, CONNECT_TIMEOUT) else {
        return receiver.recv().ok().map(drop);
    };
    let prepared = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(CONNECT_TIMEOUT)));
    if prepared.and_then(|()| write_line(&mut stream, hello)).is_err() {
        return Some(());
    }
    loop {
        let message = receiver.recv().ok()?;
        if write_line(&mut stream, &message).is_err() {
            return Some(());
        }
    }
}

fn write_line(stream: &mut TcpStream, value: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Accepts other members of the cluster.
pub(super) fn accept(listener: TcpListener, cluster: String, incoming: Sender<Incoming>) {
    let open = Arc::<AtomicUsize>::default();
    spawn("cluster-accept", move || {
        for stream in listener.incoming().flatten() {
            if open.fetch_add(1, Ordering::Relaxed) >= MAX_MEMBERS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (cluster, incoming, open) = (cluster.clone(), incoming.clone(), open.clone());
            spawn("cluster-in", move || {
                receive(stream, &cluster, &incoming);
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

fn receive(stream: TcpStream, cluster: &str, incoming: &Sender<Incoming>) {
    let mut reader = BufReader::new(stream);
    let Some(hello) = read_line::<Hello>(&mut reader) else { return };
    if hello.cluster != cluster {
        warn!(theirs = hello.cluster, ours = cluster, "a member of another cluster was refused");
        return;
    }
    let member = hello.member;
    while let Some(message) = read_line::<Message>(&mut reader) {
        if incoming.blocking_send(Incoming::Message(member.clone(), message)).is_err() {
            return;
        }
    }
    debug!(%member, "the connection of a member closed");
    let _ = incoming.blocking_send(Incoming::Closed(member));
}

fn read_line<T: for<'a> Deserialize<'a>>(reader: &mut BufReader<TcpStream>) -> Option<T> {
    let mut line = String::new();
    reader.by_ref().take(MAX_LINE).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().name(name.to_owned()).spawn(run) {
        warn!(%error, "cannot start a thread of the cluster");
    }
}
