//! Batched sending: frames through a packet socket, and messages through any.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};

use crate::PacketSocket;

/// Sends frames, each in some pieces, in order; the places of those that the interface refused go to `refused`.
///
/// It refuses them while it is down, while its queue is full, and if they are too long.
pub fn send<'a>(socket: &PacketSocket, frames: &[impl AsRef<[IoSlice<'a>]>], refused: impl FnMut(usize)) {
    let mut controls: Vec<_> = frames.iter().map(|_| SendAncillaryBuffer::new(no_control())).collect();
    let messages = frames.iter().zip(&mut controls);
    let mut messages: Vec<_> =
        messages.map(|(pieces, control)| MMsgHdr::new(pieces.as_ref(), control)).collect();
    send_messages(socket, &mut messages, refused);
}

/// Sends messages in order; the places of those that were refused go to `refused`.
pub(crate) fn send_messages(socket: impl AsFd, messages: &mut [MMsgHdr<'_>], mut refused: impl FnMut(usize)) {
    let mut done = 0;
    while let Some(rest) = messages.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match sendmmsg(socket.as_fd(), rest, SendFlags::DONTWAIT) {
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

pub(crate) fn no_control() -> &'static mut [MaybeUninit<u8>] {
    &mut []
}
