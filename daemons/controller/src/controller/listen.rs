//! Listening sockets.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::config::{ControllerError, Listen};

pub(super) fn switches(listen: Listen) -> Result<TcpListener, ControllerError> {
    match listen {
        Listen::Address(address) => on("switches", address),
        Listen::Inherited(fd) => inherited(fd),
    }
}

pub(super) fn inherited(fd: OwnedFd) -> Result<TcpListener, ControllerError> {
    let listener = TcpListener::from(fd);
    let listening = socket2::SockRef::from(&listener).is_listener().and_then(|yes| {
        if yes { listener.set_nonblocking(true) } else { Err(io::ErrorKind::InvalidInput.into()) }
    });
    listening.map_err(ControllerError::Inherited).map(|()| listener)
}

pub(super) fn on(what: &'static str, address: SocketAddr) -> Result<TcpListener, ControllerError> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|source| ControllerError::Listen { what, address, source })
}

/// Raises the limit of open files: each switch and API client takes one; the usual soft limit is 1,024.
pub(super) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If it cannot be raised, later connections wait.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
