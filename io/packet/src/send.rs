//! Batched sending of frames through a packet socket.

use std::io::IoSlice;
use std::mem::MaybeUninit;

use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};

use crate::PacketSocket;

/// Sends frames, each in some pieces, in order; the places of those that the interface refused go to `refused`.
///
/// It refuses them while it is down, while its queue is full, and if they are too long.
pub fn send<'a>(socket: &PacketSocket, frames: &[impl AsRef<[IoSlice<'a>]>], mut refused: impl FnMut(usize)) {
    let mut controls: Vec<_> = frames.iter().map(|_| SendAncillaryBuffer::new(no_control())).collect();
    let messages = frames.iter().zip(&mut controls);
    let mut messages: Vec<_> =
        messages.map(|(pieces, control)| MMsgHdr::new(pieces.as_ref(), control)).collect();
    let mut done = 0;
    while let Some(rest) = messages.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match sendmmsg(socket, rest, SendFlags::DONTWAIT) {
            Ok(sent) => done += sent,
            Err(Errno::INTR) => {}
            // The first of the rest is the one that failed.
            Err(_) => {
                refused(done);
                done += 1;
            }
        }
    }
}

fn no_control() -> &'static mut [MaybeUninit<u8>] {
    &mut []
}
