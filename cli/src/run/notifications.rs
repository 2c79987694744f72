use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, ExitStatus};

use libseccomp::{ScmpNotifReq, ScmpNotifResp, ScmpNotifRespFlags};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::connection::Connection;

/// Lets each connection go on once `announce` has been told of it; returns when the last process of the command has ended.
pub(super) fn serve(
    mut child: Child,
    listener: &OwnedFd,
    mut announce: impl FnMut(Connection),
) -> anyhow::Result<ExitStatus> {
    // Its parent reaps it at once: a listener whose processes have all ended hangs up.
    let waiting = std::thread::spawn(move || child.wait());
    while wait(listener)? {
        // The process may have been killed meanwhile: then there is nothing to receive or to answer.
        let Ok(request) = ScmpNotifReq::receive(listener.as_raw_fd()) else { continue };
        let [number, address, length, ..] = request.data.args;
        if let Some(connection) = Connection::about_to_open(request.pid, number, (address, length)) {
            announce(connection);
        }
        let goes_on = ScmpNotifResp::new_continue(request.id, ScmpNotifRespFlags::empty());
        drop(goes_on.respond(listener.as_raw_fd()));
    }
    Ok(waiting.join().map_err(|_| anyhow::anyhow!("the command cannot be waited for"))??)
}

/// Waits for a request; none will come any more if false.
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
