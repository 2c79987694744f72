//! Network namespaces for tests, skipped with a message where they cannot be made.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

/// A network namespace, which ends with its last thread, socket and this.
pub(crate) struct Namespace(File);

/// `None`, with a word on stderr, where namespaces cannot be made.
pub(crate) fn namespace() -> Option<Namespace> {
    if !nix::unistd::Uid::effective().is_root() {
        eprintln!("skipped: network namespaces need root");
        return None;
    }
    let make = || {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        ip("link set lo up");
        File::open("/proc/thread-self/ns/net").unwrap()
    };
    Some(Namespace(thread::spawn(make).join().unwrap()))
}

impl Namespace {
    /// Where other processes find it.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Calls `action` in the namespace, on a thread of its own.
    pub(crate) fn inside<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET).unwrap();
                action()
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

pub(crate) fn ip(words: &str) {
    assert!(Command::new("ip").args(words.split(' ')).status().unwrap().success(), "ip {words}");
}
