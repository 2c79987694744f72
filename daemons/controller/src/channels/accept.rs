//! Acceptance of switch connections into a bounded queue.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tracing::warn;

use super::connections::refuse;
use crate::engine::Shared;

/// An accepted connection and its remote address.
pub(crate) type Accepted = (TcpStream, SocketAddr);

/// Accepted connections in the queue before they are served.
const MAX_QUEUED_CONNECTIONS: usize = 64;

/// Accepts connections into the queue until the task or the queue's receiver is dropped. A connection from an address from
/// which no switch may join costs no handshake.
pub(crate) async fn accept<T: From<Accepted>>(engine: Shared, listener: TcpListener, queue: mpsc::Sender<T>) {
    loop {
        let accepted =
            listener.accept().await.and_then(|(stream, address)| Ok((stream.into_std()?, address)));
        match accepted {
            Ok(accepted) => {
                let admitted = engine.borrow().switches().check_address(accepted.1);
                if let Err(error) = admitted {
                    refuse(&mut engine.borrow_mut(), accepted.1, &error.to_string());
                    continue;
                }
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
