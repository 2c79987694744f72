//! Packet I/O: whole frames in and out of network interfaces, by packet sockets (`packet(7)`).
//!
//! Frames come in from a ring that is shared with the kernel, and go out many at a time. With [`Offloads::Kept`] each has
//! the header before it that says what was left to the network card (`struct virtio_net_hdr`), in both directions, and
//! GSO packets come whole; with [`Offloads::None`] a GSO packet is cut at its slot, which [`Received::is_cut`] reports.
//!
//! [`TunnelDevice`] is a TUN or TAP device, [`DeviceSocket`] a UDP socket of one interface, as tunnels between sites need.
//!
//! It does not change frames and knows no protocol. The unsafe code is in `ring`, `socket`, `tunnel_device` and `datagrams`.
//!
//! ```no_run
//! use std::io::IoSlice;
//!
//! use braid_packet_io::{Offloads, Port, send};
//!
//! // Sends a frame back as it came.
//! let mut port = Port::open("eth0", 256, Offloads::None).unwrap();
//! let mut buffer = Vec::new();
//! if let Some(frame) = port.ring.receive() {
//!     frame.copy_to(&mut buffer);
//! }
//! send(&port.socket, &[[IoSlice::new(&buffer)]], |place| eprintln!("frame {place} was refused"));
//! ```

mod datagrams;
mod ring;
mod send;
mod socket;
mod tunnel_device;

use std::io;

pub use datagrams::{Datagrams, DeviceSocket, Outgoing};
pub use ring::{Received, Ring};
pub use send::send;
pub use socket::PacketSocket;
pub use tunnel_device::{TunnelDevice, TunnelKind};

/// The length of `struct virtio_net_hdr`.
pub const HEADER: usize = 10;

/// Whether frames have a header that says what was left to the network card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offloads {
    /// They have none, and go past the queueing disciplines.
    None,
    /// They have one, and go through the interface's queueing discipline.
    Kept,
}

/// An interface that frames come from and go to.
#[derive(Debug)]
pub struct Port {
    /// Sends, and says what was missed.
    pub socket: PacketSocket,
    /// What was received.
    pub ring: Ring,
}

impl Port {
    /// Opens interface `device` of the calling thread's namespace with a ring of `slots` frames.
    ///
    /// # Errors
    ///
    /// What the kernel does not do, and why.
    pub fn open(device: &str, slots: u32, offloads: Offloads) -> Result<Self, (&'static str, io::Error)> {
        let socket = PacketSocket::new(offloads).map_err(|error| ("opening a packet socket", error))?;
        let mtu = socket.mtu(device).map_err(|error| ("reading its MTU", error))?;
        let index = socket.index(device).map_err(|error| ("finding it", error))?;
        let ring = Ring::new(&socket, mtu, slots).map_err(|error| ("making a receive ring", error))?;
        // Only now: frames of before would be in no ring.
        socket.bind(index).map_err(|error| ("binding", error))?;
        if offloads == Offloads::Kept {
            socket.take_all(index).map_err(|error| ("receiving what is for others", error))?;
        }
        Ok(Self { socket, ring })
    }
}
