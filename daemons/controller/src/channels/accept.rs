//! Acceptance of switch connections into a bounded queue.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tracing::warn;

/// An accepted connection and its remote address.
pub(crate) type Accepted = (TcpStream, SocketAddr);

/// Accepted connections in the queue before they are served.
const MAX_QUEUED_CONNECTIONS: usize = 64;

/// Accepts connections into the queue until the task or the queue's receiver is dropped.
pub(crate) async fn accept<T: From<Accepted>>(listener: TcpListener, queue: mpsc::Sender<T>) {
    loop {
        let accepted =
            listener.accept().await.and_then(|(stream, address)| Ok((stream.into_std()?, address)));
        match accepted {
            Ok(accepted) => {
                if queue.send(accepted.into()).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Both ends of the bounded queue of accepted connections.
pub(crate) fn accept_queue<T: From<Accepted>>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
    mpsc::channel(MAX_QUEUED_CONNECTIONS)
}
