use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::spawn_local;
use tracing::warn;

use crate::channel;
use crate::engine::Shared;

/// More connections than any network has switches are a mistake or an attack.
const MAX_CHANNELS: usize = 4_096;

/// Takes switches in until the task is dropped.
pub(crate) async fn accept(engine: Shared, listener: TcpListener) {
    let channels = std::rc::Rc::new(());
    loop {
        match listener.accept().await {
            Ok((_, address)) if std::rc::Rc::strong_count(&channels) > MAX_CHANNELS => {
                warn!(%address, "{MAX_CHANNELS} switches are connected, which is the limit: connection closed");
            }
            Ok((stream, address)) => {
                let (engine, guard) = (engine.clone(), channels.clone());
                spawn_local(async move {
                    channel::serve(engine, stream, address).await;
                    drop(guard);
                });
            }
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}
