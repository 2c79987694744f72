//! UDP sockets of one interface, which send and receive many datagrams at once.

use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::sockopt::UdpGroSegment;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt,
};
use rustix::net::{
    AddressFamily, MMsgHdr, SendAncillaryBuffer, SocketAddrAny, SocketFlags, SocketType, bind, socket_with,
    sockopt,
};

use crate::Offloads;
use crate::send::{no_control, send_messages};

/// Room for 100 ms at 1 Gbit/s.
const BUFFER: usize = 12 << 20;
/// What the kernel takes at once: datagrams, and bytes.
const MAX_SEGMENTS: usize = 64;
const MAX_BYTES: usize = 65_000;

/// A UDP socket that uses one interface, whatever its addresses are now and become.
#[derive(Debug)]
pub struct DeviceSocket {
    socket: OwnedFd,
    /// Whether datagrams of one length are passed to the kernel together (UDP GSO), until it refuses that.
    segments: Cell<bool>,
}

/// A datagram to send.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Its receiver.
    pub to: SocketAddr,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Datagrams of one sender that were received together.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams<'a> {
    /// The sender.
    pub from: SocketAddr,
    bytes: &'a [u8],
    /// The length of each but the last.
    segment: usize,
}

impl<'a> Datagrams<'a> {
    /// Each datagram; one without content is one.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let empty = Some(self.bytes).filter(|bytes| bytes.is_empty());
        empty.into_iter().chain(self.bytes.chunks(self.segment.max(1)))
    }
}

impl DeviceSocket {
    /// Room for all that may be received together.
    pub const ROOM: usize = 1 << 16;

    /// Binds to `port` of `device`, for IPv6 alone or for IPv4 alone. Datagrams are never fragmented. With
    /// [`Offloads::Kept`] those of one length pass the kernel together, where it can do that (UDP GSO and GRO).
    ///
    /// # Errors
    ///
    /// There is no such interface, the port is taken there, or the caller may not.
    pub fn open(device: &str, port: u16, is_v6: bool, offloads: Offloads) -> io::Result<Self> {
        let family = if is_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::DGRAM, flags, None)?;
        let is_kept = offloads == Offloads::Kept;
        let socket = Self { socket, segments: Cell::new(is_kept) };
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
        // A kernel without it gives one datagram at a time.
        let _ = setsockopt(&socket, UdpGroSegment, &is_kept);
        // What needs CAP_NET_ADMIN in the first namespace; without it the machine's limits stay.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER);
        let _ = sockopt::set_socket_send_buffer_size_force(&socket, BUFFER);
        Ok(socket)
    }

    /// Receives the next datagrams of one sender, as far as they fit; `None` if there are none. `buffer` has
    /// [`Self::ROOM`].
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> Option<Datagrams<'a>> {
        let mut control = cmsg_space!(libc::c_int);
        let (length, from, segment) = {
            let mut pieces = [IoSliceMut::new(buffer)];
            let (socket, flags) = (self.socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
            let received = recvmsg::<SockaddrStorage>(socket, &mut pieces, Some(&mut control), flags).ok()?;
            let segment = received.cmsgs().ok()?.find_map(|message| match message {
                ControlMessageOwned::UdpGroSegments(length) => usize::try_from(length).ok(),
                _ => None,
            });
            (received.bytes, socket_address(&received.address?)?, segment)
        };
        let bytes = buffer.get(..length)?;
        Some(Datagrams { from, bytes, segment: segment.unwrap_or(length) })
    }

    /// Sends datagrams in order. Returns how many of them the kernel did not take: no route, no room, too long for the
    /// interface, or the interface is gone.
    pub fn send(&self, datagrams: &[Outgoing<'_>]) -> usize {
        let (mut rest, mut refused) = (datagrams, 0);
        while self.segments.get() && !rest.is_empty() {
            let (run, later) = rest.split_at(run_length(rest));
            refused += match self.send_run(run) {
                Ok(()) => 0,
                Err(_) if run.len() == 1 => 1,
                Err(error) => self.retry(error, run),
            };
            rest = later;
        }
        refused + self.send_each(rest)
    }

    /// Sends the datagrams of a run that was not taken together.
    fn retry(&self, error: Errno, run: &[Outgoing<'_>]) -> usize {
        let refused = self.send_each(run);
        // What is refused together and taken singly: the kernel or the device, as one without checksums, does not segment.
        let is_refusal = matches!(error, Errno::EIO | Errno::EINVAL | Errno::EOPNOTSUPP | Errno::ENOPROTOOPT);
        if is_refusal && refused == 0 {
            self.segments.set(false);
        }
        refused
    }

    /// Sends each datagram by itself, many with one call.
    fn send_each(&self, datagrams: &[Outgoing<'_>]) -> usize {
        let pieces: Vec<_> = datagrams.iter().map(|one| [IoSlice::new(one.bytes)]).collect();
        let addresses: Vec<_> = datagrams.iter().map(|one| SocketAddrAny::from(one.to)).collect();
        let mut controls: Vec<_> = datagrams.iter().map(|_| SendAncillaryBuffer::new(no_control())).collect();
        let messages = addresses.iter().zip(&pieces).zip(&mut controls);
        let mut messages: Vec<_> =
            messages.map(|((to, piece), control)| MMsgHdr::new_with_addr(to, piece, control)).collect();
        let mut refused = 0;
        send_messages(self, &mut messages, |_| refused += 1);
        refused
    }

    /// Sends datagrams of one receiver and length, of which the last may be shorter.
    fn send_run(&self, run: &[Outgoing<'_>]) -> Result<(), Errno> {
        let Some(Outgoing { to, bytes }) = run.first() else { return Ok(()) };
        let length = u16::try_from(bytes.len()).map_err(|_| Errno::EMSGSIZE)?;
        let mut pieces = [IoSlice::new(&[]); MAX_SEGMENTS];
        pieces.iter_mut().zip(run).for_each(|(piece, one)| *piece = IoSlice::new(one.bytes));
        let pieces = pieces.get(..run.len()).ok_or(Errno::EMSGSIZE)?;
        let segmented = [ControlMessage::UdpGsoSegments(&length)];
        let control = if run.len() > 1 { &segmented[..] } else { &[] };
        let (socket, to) = (self.socket.as_raw_fd(), SockaddrStorage::from(*to));
        sendmsg(socket, pieces, control, MsgFlags::MSG_DONTWAIT, Some(&to)).map(drop)
    }

    fn set(&self, level: libc::c_int, option: libc::c_int, value: &[u8]) -> io::Result<()> {
        let length = value.len() as libc::socklen_t;
        let socket = self.socket.as_raw_fd();
        // SAFETY: the pointer and length are those of `value`, which the kernel only reads.
        #[expect(unsafe_code, reason = "no safe crate in use has the MTU options of sockets")]
        let set = unsafe { libc::setsockopt(socket, level, option, value.as_ptr().cast(), length) };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for DeviceSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The number of datagrams at the beginning that may go together: to one receiver, and of one length but the last.
fn run_length(datagrams: &[Outgoing<'_>]) -> usize {
    let Some(first) = datagrams.first() else { return 0 };
    let most = MAX_SEGMENTS.min(MAX_BYTES / first.bytes.len().max(1)).max(1);
    let follows = |pair: &&[Outgoing<'_>]| {
        let [before, next] = pair else { return false };
        let is_full = before.bytes.len() == first.bytes.len();
        next.to == first.to && is_full && (1..=first.bytes.len()).contains(&next.bytes.len())
    };
    1 + datagrams.windows(2).take(most - 1).take_while(follows).count()
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|it| SocketAddr::from(*it));
    v4.or_else(|| address.as_sockaddr_in6().map(|it| SocketAddr::from(*it)))
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::getsockname;

    use super::*;

    const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 5);

    fn outgoing<'a>(to: SocketAddr, all: &'a [Vec<u8>]) -> Vec<Outgoing<'a>> {
        all.iter().map(|bytes| Outgoing { to, bytes }).collect()
    }

    #[test]
    fn what_is_received_is_cut_and_may_be_empty() {
        let lengths = |bytes: &[u8]| -> Vec<usize> {
            Datagrams { from: HERE, bytes, segment: 4 }.iter().map(<[u8]>::len).collect()
        };
        assert_eq!((lengths(&[0; 9]), lengths(&[])), (vec![4, 4, 1], vec![0]));
    }

    #[test]
    fn a_run_has_one_receiver_and_one_length_but_for_the_last() {
        let run = |lengths: &[usize]| {
            let all: Vec<_> = lengths.iter().map(|length| vec![0; *length]).collect();
            run_length(&outgoing(HERE, &all))
        };
        assert_eq!(run(&[1_400, 1_400, 60, 60]), 3);
        assert_eq!(run(&[60, 1_400]), 1);
        assert_eq!(run(&[0, 0]), 1);
        assert_eq!(run(&[1_400; 200]), MAX_BYTES / 1_400);
        assert_eq!(run(&[60; 200]), MAX_SEGMENTS);
        let other = SocketAddr::new(HERE.ip(), 6);
        let bytes = &[0; 60][..];
        assert_eq!(run_length(&[Outgoing { to: HERE, bytes }, Outgoing { to: other, bytes }]), 1);
    }

    /// A sender and a receiver on the loopback interface; `None` where binding to an interface is not permitted.
    fn pair(is_v6: bool, offloads: [Offloads; 2]) -> Option<(DeviceSocket, DeviceSocket, SocketAddr)> {
        let [sender, receiver] = offloads.map(|offloads| DeviceSocket::open("lo", 0, is_v6, offloads).ok());
        let (Some(sender), Some(receiver)) = (sender, receiver) else {
            println!("skipped: binding to an interface is not permitted, or there is no IPv6");
            return None;
        };
        let name = getsockname::<SockaddrStorage>(receiver.socket.as_raw_fd()).unwrap();
        let port = socket_address(&name).unwrap().port();
        let to = if is_v6 { (Ipv6Addr::LOCALHOST, port).into() } else { (Ipv4Addr::LOCALHOST, port).into() };
        Some((sender, receiver, to))
    }

    fn receive_all(receiver: &DeviceSocket) -> (Vec<Vec<u8>>, usize) {
        let (mut buffer, mut received, mut calls) = (vec![0; DeviceSocket::ROOM], Vec::new(), 0);
        while let Some(datagrams) = receiver.receive(&mut buffer) {
            received.extend(datagrams.iter().map(<[u8]>::to_vec));
            calls += 1;
        }
        (received, calls)
    }

    #[test]
    fn datagrams_arrive_whole_and_in_order_whatever_each_end_offloads() {
        let kinds = [Offloads::None, Offloads::Kept];
        let pairs = kinds.into_iter().flat_map(|sender| kinds.map(|receiver| [sender, receiver]));
        for (offloads, is_v6) in pairs.flat_map(|pair| [(pair, false), (pair, true)]) {
            let Some((sender, receiver, to)) = pair(is_v6, offloads) else { continue };
            let sent: Vec<Vec<u8>> = (0..300_usize).map(|it| vec![it as u8; 1_000 + it / 50 * 7]).collect();
            assert_eq!(sender.send(&outgoing(to, &sent)), 0);
            let (received, calls) = receive_all(&receiver);
            assert_eq!(received, sent);
            assert!(calls < sent.len() || offloads != [Offloads::Kept; 2], "received together");
        }
    }

    #[test]
    fn a_run_that_the_kernel_refuses_goes_one_by_one_from_then_on() {
        let Some((sender, receiver, to)) = pair(false, [Offloads::Kept; 2]) else { return };
        // A socket that sends no checksums cannot segment.
        sender.set(libc::SOL_SOCKET, libc::SO_NO_CHECK, &1_i32.to_ne_bytes()).unwrap();
        let sent = vec![vec![7; 500]; 20];
        assert_eq!(sender.send(&outgoing(to, &sent)), 0);
        assert!(!sender.segments.get());
        assert_eq!(receive_all(&receiver).0, sent);
    }

    #[test]
    fn datagrams_that_are_too_long_are_refused_alone() {
        let Some((sender, receiver, to)) = pair(false, [Offloads::Kept; 2]) else { return };
        let sent = [vec![vec![1; 65_535]; 2], vec![vec![2; 100]; 3]].concat();
        assert_eq!(sender.send(&outgoing(to, &sent)), 2);
        assert_eq!(receive_all(&receiver).0, sent[2..]);
    }
}
