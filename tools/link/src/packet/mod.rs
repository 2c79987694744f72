//! Packet sockets (`packet(7)`): frames in from a ring that is shared with the kernel, frames out many at a time.
//!
//! The unsafe code of this crate is in `ring` and `socket`.

mod ring;
mod send;
mod socket;

use std::io;

pub(crate) use ring::Ring;
pub(crate) use send::send;
pub(crate) use socket::PacketSocket;

/// An interface that frames come from and go to.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) socket: PacketSocket,
    pub(crate) ring: Ring,
}

impl Port {
    /// Opens interface `device` of the calling thread's namespace with a ring of `slots` frames.
    pub(crate) fn open(device: &str, slots: u32) -> Result<Self, (&'static str, io::Error)> {
        let socket = PacketSocket::new().map_err(|error| ("opening a packet socket", error))?;
        let mtu = socket.mtu(device).map_err(|error| ("reading its MTU", error))?;
        let index = socket.index(device).map_err(|error| ("finding it", error))?;
        let ring = Ring::new(&socket, mtu, slots).map_err(|error| ("making a receive ring", error))?;
        // Only now: frames of before would be in no ring.
        socket.bind(index).map_err(|error| ("binding", error))?;
        Ok(Self { socket, ring })
    }
}
