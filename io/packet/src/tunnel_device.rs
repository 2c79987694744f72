//! TUN and TAP devices: packets and frames between the kernel and this process.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::libc;
use rustix::fs::{Mode, OFlags};

use crate::socket::request;

/// What passes a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TunnelKind {
    /// IP packets: a TUN.
    Packets,
    /// Ethernet frames: a TAP.
    Frames,
}

/// A TUN or TAP device, which exists as long as this value.
#[derive(Debug)]
pub struct TunnelDevice(OwnedFd);

impl TunnelDevice {
    /// Makes the device `name` in the calling thread's network namespace. It is down at first.
    ///
    /// # Errors
    ///
    /// The kernel has no such devices, the name is taken or too long, or the caller may not.
    pub fn open(name: &str, kind: TunnelKind) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = Self(rustix::fs::open("/dev/net/tun", flags, Mode::empty())?);
        let mut request = request(name)?;
        let kind = if kind == TunnelKind::Packets { libc::IFF_TUN } else { libc::IFF_TAP };
        // Another process with this name is an error, not a second queue.
        request.ifr_ifru.ifru_flags = (kind | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the request is an `ifreq` with a name that ends, which the kernel reads and writes no further.
        #[expect(unsafe_code, reason = "no safe crate makes TUN devices")]
        let made = unsafe { libc::ioctl(device.0.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if made < 0 { Err(io::Error::last_os_error()) } else { Ok(device) }
    }

    /// Reads the next packet, as far as it fits; `None` if there is none.
    pub fn receive<'a>(&self, buffer: &'a mut [MaybeUninit<u8>]) -> Option<&'a [u8]> {
        rustix::io::read(&self.0, buffer).ok().map(|(read, _)| &*read).filter(|read| !read.is_empty())
    }

    /// Writes a packet; whether the kernel took it.
    pub fn send(&self, packet: &[u8]) -> bool {
        rustix::io::write(&self.0, packet).is_ok_and(|written| written == packet.len())
    }
}

impl AsFd for TunnelDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
