//! The connection with one database: opened again whenever it ends.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::database::Database;
use super::json_rpc::{Inbox, echo};
use super::stream::{Opened, connect};

/// The interval of attempts to connect.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A database that says nothing for so long is asked whether it is there, and given up when it says nothing again.
const SILENCE: Duration = Duration::from_secs(10);
const READ_CHUNK: usize = 64 << 10;
/// Bytes that the database may leave unread.
const MAX_UNSENT: usize = 4 << 20;

/// Speaks with a database, and connects again whenever that ends.
pub(super) async fn serve(database: Rc<RefCell<Database>>) {
    let mut failure = String::new();
    loop {
        let (address, tls) = database.borrow().endpoint();
        let ended = match timeout(CONNECT_TIMEOUT, connect(&address, tls.as_ref())).await {
            Ok(Ok(opened)) => {
                info!(database = %address, "connected");
                converse(&database, opened, &mut failure).await
            }
            Ok(Err(error)) => error,
            Err(_) => ErrorKind::TimedOut.into(),
        };
        // What is not known any more is left alone.
        database.borrow_mut().disconnected();
        let text = ended.to_string();
        if text != failure {
            warn!(database = %address, error = text, "no connection with the database; trying again");
            failure = text;
        }
        sleep(RECONNECT_INTERVAL).await;
    }
}

/// Until the connection ends; why. Once the database has said something, an earlier `failure` is over.
async fn converse(database: &Rc<RefCell<Database>>, opened: Opened, failure: &mut String) -> io::Error {
    let Opened { stream, certificate } = opened;
    database.borrow_mut().connected(certificate);
    let (reader, writer) = split(stream);
    let ended = tokio::select! {
        ended = receive(database, reader, failure) => ended,
        ended = send(database, writer) => ended,
    };
    ended.err().unwrap_or_else(|| ErrorKind::UnexpectedEof.into())
}

async fn receive(
    database: &Rc<RefCell<Database>>,
    mut reader: impl AsyncRead + Unpin,
    failure: &mut String,
) -> io::Result<()> {
    let (mut inbox, mut room, mut is_asked) = (Inbox::default(), vec![0; READ_CHUNK], false);
    loop {
        match timeout(SILENCE, reader.read(&mut room)).await {
            Ok(Ok(0)) => return Ok(()),
            Ok(read) => inbox.push(room.get(..read?).unwrap_or_default()),
            Err(_) if is_asked => return Err(ErrorKind::TimedOut.into()),
            Err(_) => {
                is_asked = true;
                database.borrow_mut().send(&echo());
                continue;
            }
        }
        (is_asked, *failure) = (false, String::new());
        while let Some(message) = inbox.next().map_err(io::Error::other)? {
            database.borrow_mut().handle(message);
        }
        if database.borrow().unsent() > MAX_UNSENT {
            return Err(io::Error::other("it does not read"));
        }
    }
}

async fn send(database: &Rc<RefCell<Database>>, mut writer: impl AsyncWrite + Unpin) -> io::Result<()> {
    let filled = database.borrow().filled();
    loop {
        let bytes = database.borrow_mut().take_unsent();
        if bytes.is_empty() {
            filled.notified().await;
            continue;
        }
        writer.write_all(&bytes).await?;
        writer.flush().await?;
    }
}
