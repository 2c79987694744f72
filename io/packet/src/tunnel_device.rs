//! TUN and TAP devices: packets and frames between the kernel and this process.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::libc;
use rustix::fs::{Mode, OFlags};

use crate::socket::request;
use crate::{HEADER, Offloads};

/// What this side takes of packets that are not complete: checksums, and GSO packets of TCP; of UDP since Linux 6.2.
const TCP_OFFLOADS: libc::c_uint =
    libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
const UDP_OFFLOADS: libc::c_uint = libc::TUN_F_USO4 | libc::TUN_F_USO6;

/// What passes a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TunnelKind {
    /// IP packets: a TUN.
    Packets,
    /// Ethernet frames: a TAP.
    Frames,
}

/// A TUN or TAP device, which exists as long as this value. Each packet has the header `struct virtio_net_hdr`.
#[derive(Debug)]
pub struct TunnelDevice(OwnedFd);

impl TunnelDevice {
    /// The greatest length of a packet, a tag included.
    pub const ROOM: usize = HEADER + 65_535 + 18;

    /// Makes the device `name` in the calling thread's network namespace. It is down at first. With [`Offloads::Kept`] the
    /// kernel gives GSO packets, as far as it can; without, each packet is complete. It takes both.
    ///
    /// # Errors
    ///
    /// The kernel has no such devices, the name is taken or too long, or the caller may not.
    pub fn open(name: &str, kind: TunnelKind, offloads: Offloads) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = Self(rustix::fs::open("/dev/net/tun", flags, Mode::empty())?);
        let mut request = request(name)?;
        let kind = if kind == TunnelKind::Packets { libc::IFF_TUN } else { libc::IFF_TAP };
        // Another process with this name is an error, not a second queue.
        request.ifr_ifru.ifru_flags = (kind | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        // SAFETY: the request is an `ifreq` with a name that ends, which the kernel reads and writes no further.
        #[expect(unsafe_code, reason = "no safe crate makes TUN devices")]
        let made = unsafe { libc::ioctl(device.0.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        if offloads == Offloads::Kept && !device.take(TCP_OFFLOADS | UDP_OFFLOADS) {
            // A kernel that refuses this as well completes all packets.
            device.take(TCP_OFFLOADS);
        }
        Ok(device)
    }

    /// Reads the next packet and its header, as far as they fit; `None` if there is none. `buffer` has [`Self::ROOM`].
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> Option<([u8; HEADER], &'a [u8])> {
        let length = rustix::io::read(&self.0, &mut *buffer).ok()?;
        let (header, packet) = buffer.get(..length)?.split_first_chunk()?;
        Some((*header, packet))
    }

    /// Writes a packet in pieces, of which the first is its header.
    ///
    /// # Errors
    ///
    /// The device is down, or the kernel knows no such header.
    pub fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        rustix::io::writev(&self.0, pieces)?;
        Ok(())
    }

    /// Says what this side takes; whether the kernel knows all of it.
    fn take(&self, offloads: libc::c_uint) -> bool {
        let flags = libc::c_ulong::from(offloads);
        // SAFETY: the argument of this request is a number.
        #[expect(unsafe_code, reason = "no safe crate sets the offloads of TUN devices")]
        let taken = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::TUNSETOFFLOAD, flags) };
        taken >= 0
    }
}

impl AsFd for TunnelDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
