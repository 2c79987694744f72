//! UDP sockets of one interface.

use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::libc;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recvfrom, sendto, socket_with,
    sockopt,
};

/// Room for 100 ms at 1 Gbit/s.
const BUFFER: usize = 12 << 20;

/// A UDP socket that uses one interface, whatever its addresses are now and become.
#[derive(Debug)]
pub struct DeviceSocket(OwnedFd);

impl DeviceSocket {
    /// Binds to `port` of `device`, for IPv6 alone or for IPv4 alone. Datagrams are never fragmented.
    ///
    /// # Errors
    ///
    /// There is no such interface, the port is taken there, or the caller may not.
    pub fn open(device: &str, port: u16, is_v6: bool) -> io::Result<Self> {
        let family = if is_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = Self(socket_with(family, SocketType::DGRAM, flags, None)?);
        socket.set(libc::SOL_SOCKET, libc::SO_BINDTODEVICE, device.as_bytes())?;
        // Sends with DF whatever the kernel believes of the path: the longest length is found by probes.
        let probe = |option: libc::c_int| option.to_ne_bytes();
        if is_v6 {
            sockopt::set_ipv6_v6only(&socket, true)?;
            socket.set(libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, &probe(libc::IPV6_PMTUDISC_PROBE))?;
            bind(&socket, &SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))?;
        } else {
            socket.set(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &probe(libc::IP_PMTUDISC_PROBE))?;
            bind(&socket, &SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?;
        }
        // What needs CAP_NET_ADMIN in the first namespace; without it the machine's limits stay.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER);
        let _ = sockopt::set_socket_send_buffer_size_force(&socket, BUFFER);
        Ok(socket)
    }

    /// Receives the next datagram, as far as it fits; `None` if there is none.
    pub fn receive<'a>(&self, buffer: &'a mut [MaybeUninit<u8>]) -> Option<(&'a [u8], SocketAddr)> {
        let ((bytes, _), _, from) = recvfrom(&self.0, buffer, RecvFlags::DONTWAIT).ok()?;
        let from = SocketAddr::try_from(from?).ok()?;
        Some((&*bytes, from))
    }

    /// Sends a datagram.
    ///
    /// # Errors
    ///
    /// No route, no room, too long for the interface, or the interface is gone.
    pub fn send(&self, bytes: &[u8], to: SocketAddr) -> io::Result<()> {
        sendto(&self.0, bytes, SendFlags::DONTWAIT, &to)?;
        Ok(())
    }

    fn set(&self, level: libc::c_int, option: libc::c_int, value: &[u8]) -> io::Result<()> {
        let length = value.len() as libc::socklen_t;
        // SAFETY: the pointer and length are those of `value`, which the kernel only reads.
        #[expect(unsafe_code, reason = "no safe crate in use has the MTU options of sockets")]
        let set =
            unsafe { libc::setsockopt(self.0.as_raw_fd(), level, option, value.as_ptr().cast(), length) };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for DeviceSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
