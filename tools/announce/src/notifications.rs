//! Handling of seccomp notifications: each connection of a command waits for its announcement.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, ExitStatus};

use braid_types::FiveTuple;
use libseccomp::{ScmpNotifReq, ScmpNotifResp, ScmpNotifRespFlags};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::connection::about_to_open;

/// A command whose connections wait until they are released.
#[derive(Debug)]
pub struct Watched {
    pub(crate) child: Child,
    pub(crate) listener: OwnedFd,
}

impl Watched {
    /// Calls `announce` for each connection and then releases it. Returns when the command's last process has ended.
    ///
    /// # Errors
    ///
    /// The kernel reports neither connections nor the command's end.
    pub fn serve(self, mut announce: impl FnMut(FiveTuple)) -> io::Result<ExitStatus> {
        let Self { mut child, listener } = self;
        // The parent reaps it at once: the listener hangs up when all of its processes have ended.
        let waiting = std::thread::spawn(move || child.wait());
        while wait(&listener)? {
            // The process may have been killed meanwhile; then there is nothing to receive or answer.
            let Ok(request) = ScmpNotifReq::receive(listener.as_raw_fd()) else { continue };
            let [number, address, length, ..] = request.data.args;
            if let Some(connection) = about_to_open(request.pid, number, (address, length)) {
                announce(connection);
            }
            let goes_on = ScmpNotifResp::new_continue(request.id, ScmpNotifRespFlags::empty());
            drop(goes_on.respond(listener.as_raw_fd()));
        }
        waiting.join().unwrap_or_else(|_| Err(io::Error::other("cannot wait for the command")))
    }
}

/// Waits for a request; `false` if no more will come.
fn wait(listener: &OwnedFd) -> nix::Result<bool> {
    loop {
        let mut listeners = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        match poll(&mut listeners, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => {
                let events = listeners[0].revents().unwrap_or(PollFlags::empty());
                return Ok(events.contains(PollFlags::POLLIN));
            }
        }
    }
}
