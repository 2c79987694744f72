use std::io::IoSlice;
use std::mem::MaybeUninit;

use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};

use super::PacketSocket;

/// Sends `frames`, in order; the lengths of those that the interface refused go to `refused`.
///
/// It refuses them while it is down.
pub(crate) fn send(socket: &PacketSocket, frames: &[Vec<u8>], mut refused: impl FnMut(usize)) {
    let slices: Vec<_> = frames.iter().map(|frame| [IoSlice::new(frame)]).collect();
    let mut controls: Vec<_> = frames.iter().map(|_| SendAncillaryBuffer::new(no_control())).collect();
    let mut messages: Vec<_> =
        slices.iter().zip(&mut controls).map(|(slice, control)| MMsgHdr::new(slice, control)).collect();
    let mut done = 0;
    while let Some(rest) = messages.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match sendmmsg(socket, rest, SendFlags::DONTWAIT) {
            Ok(sent) => done += sent,
            Err(Errno::INTR) => {}
            // The first of the rest is the one that failed.
            Err(_) => {
                refused(frames.get(done).map_or(0, Vec::len));
                done += 1;
            }
        }
    }
}

fn no_control() -> &'static mut [MaybeUninit<u8>] {
    &mut []
}
