//! Acceptance of switch connections into a bounded queue.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tracing::warn;

/// Who connects, and from where.
pub(crate) type Newcomer = (TcpStream, SocketAddr);

/// Connections that wait until they are served.
const MAX_WAITING: usize = 64;

/// Lets switches in until the task is dropped or nobody serves them.
pub(crate) async fn accept(listener: TcpListener, newcomers: mpsc::Sender<Newcomer>) {
    loop {
        let accepted =
            listener.accept().await.and_then(|(stream, address)| Ok((stream.into_std()?, address)));
        match accepted {
            Ok(newcomer) => {
                if newcomers.send(newcomer).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// The way of those who connect.
pub(crate) fn door() -> (mpsc::Sender<Newcomer>, mpsc::Receiver<Newcomer>) {
    mpsc::channel(MAX_WAITING)
}
