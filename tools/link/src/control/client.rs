//! A client of the control socket: status of links, and changes to them.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Answer, Change, Request, Status};
use crate::error::ControlError;

const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a link process.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the process that listens at `socket`.
    ///
    /// # Errors
    ///
    /// [`ControlError::Unreachable`].
    pub fn connect(socket: &Path) -> Result<Self, ControlError> {
        let connect = || {
            let stream = UnixStream::connect(socket)?;
            stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
            stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
            Ok(BufReader::new(stream))
        };
        let path = socket.to_owned();
        match connect() {
            Ok(stream) => Ok(Self { path, stream }),
            Err(source) => Err(ControlError::Unreachable { path, source }),
        }
    }

    /// The parameters and counters of all links.
    ///
    /// # Errors
    ///
    /// [`ControlError`].
    pub fn status(&mut self) -> Result<Status, ControlError> {
        self.ask(&Request::Status)
    }

    /// Changes a link at run time. Returns its status.
    ///
    /// # Errors
    ///
    /// [`ControlError::Refused`] if there is no such link or the parameters are invalid; then nothing changes.
    pub fn change(&mut self, change: Change) -> Result<Status, ControlError> {
        self.ask(&Request::Change(Box::new(change)))
    }

    fn ask(&mut self, request: &Request) -> Result<Status, ControlError> {
        let answer = self.exchange(request);
        let answer =
            answer.map_err(|source| ControlError::Unreachable { path: self.path.clone(), source })?;
        match serde_json::from_str(&answer) {
            Ok(Answer::Ok(status)) => Ok(status),
            Ok(Answer::Error(why)) => Err(ControlError::Refused(why)),
            Err(error) => Err(ControlError::Nonsense { answer, why: error.to_string() }),
        }
    }

    fn exchange(&mut self, request: &Request) -> io::Result<String> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)?;
        let mut answer = String::new();
        if self.stream.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(answer)
    }
}
