//! Named network namespaces: entering them, and sockets and kernel parameters inside.

use std::fs::{self, File};
use std::net::UdpSocket;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::thread;

use nix::sched::{CloneFlags, setns};

use crate::error::LabError;

/// A named network namespace, see `ip-netns(8)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Namespace {
    name: String,
}

impl Namespace {
    pub(crate) fn named(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from("/run/netns").join(&self.name)
    }

    pub(crate) fn exists(&self) -> bool {
        self.path().exists()
    }

    /// Moves the calling thread and its later children into the namespace.
    ///
    /// Only the network namespace changes: `ip netns exec` would also remount /sys.
    pub(crate) fn enter(&self) -> Result<(), LabError> {
        let path = self.path();
        let file = File::open(&path).map_err(|error| LabError::file(&path, error))?;
        setns(file, CloneFlags::CLONE_NEWNET).map_err(|error| LabError::file(&path, error.into()))
    }

    /// Runs `action` on a thread inside the namespace. Its sockets and children stay there.
    pub(crate) fn run<T: Send>(
        &self,
        action: impl FnOnce() -> Result<T, LabError> + Send,
    ) -> Result<T, LabError> {
        thread::scope(|scope| {
            let inside = scope.spawn(|| self.enter().and_then(|()| action()));
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Sets kernel parameters; keys are paths below /proc/sys, which shows the calling thread's namespace.
    pub(crate) fn set(&self, parameters: &[(String, String)]) -> Result<(), LabError> {
        self.run(|| {
            parameters.iter().try_for_each(|(key, value)| {
                let path = PathBuf::from("/proc/sys").join(key);
                fs::write(&path, value).map_err(|error| {
                    LabError::io(format!("setting {key} to {value} in {}", self.name), error)
                })
            })
        })
    }

    pub(crate) fn tcp_listener(&self, address: SocketAddr) -> Result<TcpListener, LabError> {
        let what = || format!("listening on {address} in {}", self.name);
        self.run(|| TcpListener::bind(address).map_err(|error| LabError::io(what(), error)))
    }

    pub(crate) fn udp_socket(&self, address: IpAddr) -> Result<UdpSocket, LabError> {
        let what = || format!("binding {address} in {}", self.name);
        self.run(|| UdpSocket::bind((address, 0)).map_err(|error| LabError::io(what(), error)))
    }
}
