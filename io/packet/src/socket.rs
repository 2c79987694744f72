//! Packet sockets bound to an interface, with offloads, MTU and drop counters.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::{HEADER, Offloads};
use nix::libc;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};

/// Room for what was sent and not yet taken by the other end, in bytes.
const SEND_BUFFER: usize = 4 << 20;
/// Room for GSO packets that wait outside of the ring, in bytes.
const RECEIVE_BUFFER: usize = 16 << 20;

/// A packet socket: whole frames, all protocols, in both directions past the queueing disciplines.
#[derive(Debug)]
pub struct PacketSocket(OwnedFd);

impl PacketSocket {
    /// One that is bound to no interface, so that nothing arrives yet.
    pub(crate) fn new(offloads: Offloads) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Protocol 0 receives nothing until the socket is bound.
        let socket = Self(socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?);
        socket.set(libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        socket.set(libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
        match offloads {
            Offloads::None => socket.set(libc::PACKET_QDISC_BYPASS, &1_i32)?,
            Offloads::Kept => {
                socket.set(libc::PACKET_VNET_HDR, &1_i32)?;
                // What does not fit in its slot is kept for `receive_whole`, too.
                socket.set(libc::PACKET_COPY_THRESH, &1_i32)?;
                let _ = sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER);
            }
        }
        // What needs CAP_NET_ADMIN in the first namespace; without it the machine's limit stays.
        let _ = sockopt::set_socket_send_buffer_size_force(&socket, SEND_BUFFER);
        Ok(socket)
    }

    /// The number of an interface.
    pub(crate) fn index(&self, device: &str) -> io::Result<i32> {
        let index = rustix::net::netdevice::name_to_index(self, device)?;
        i32::try_from(index).map_err(io::Error::other)
    }

    /// The longest packet of an interface, without the Ethernet header.
    ///
    /// # Errors
    ///
    /// There is no such interface.
    pub fn mtu(&self, device: &str) -> io::Result<u32> {
        let mut request = request(device)?;
        // SAFETY: the request is an `ifreq` with a name that ends, which the kernel reads and writes no further.
        #[expect(unsafe_code, reason = "no safe crate reads an interface's MTU")]
        let mtu = unsafe {
            if libc::ioctl(self.0.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) < 0 {
                return Err(io::Error::last_os_error());
            }
            request.ifr_ifru.ifru_mtu
        };
        u32::try_from(mtu).map_err(io::Error::other)
    }

    /// Takes everything that interface number `index` receives, and sends through it.
    pub(crate) fn bind(&self, index: i32) -> io::Result<()> {
        // SAFETY: every bit pattern is a `sockaddr_ll`, and zeros are its empty fields.
        #[expect(unsafe_code, reason = "no safe crate has link-layer addresses for binding")]
        let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index;
        // SAFETY: the pointer and length are those of `address`, which outlives the call.
        #[expect(unsafe_code, reason = "no safe crate has link-layer addresses for binding")]
        let bound = unsafe {
            let length = size_of_val(&address) as libc::socklen_t;
            libc::bind(self.0.as_raw_fd(), (&raw const address).cast(), length)
        };
        if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sets an option of packet sockets.
    pub(crate) fn set<T: Copy>(&self, option: libc::c_int, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: the pointer and length are those of `value`, which the kernel only reads.
        #[expect(unsafe_code, reason = "no safe crate knows the options of packet sockets")]
        let set = unsafe {
            let value = (&raw const *value).cast();
            libc::setsockopt(self.0.as_raw_fd(), libc::SOL_PACKET, option, value, length)
        };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Receives what is for other Ethernet addresses, too.
    pub(crate) fn take_all(&self, index: i32) -> io::Result<()> {
        let request = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.set(libc::PACKET_ADD_MEMBERSHIP, &request)
    }

    /// The frame that [`crate::Received::is_elsewhere`] and is `length` long: it is put into `buffer`, which is empty, and what was
    /// left to the network card is given.
    ///
    /// # Errors
    ///
    /// There is none, which happens where there was no room for it, or it is longer.
    pub fn receive_whole(&self, length: usize, buffer: &mut Vec<u8>) -> io::Result<[u8; HEADER]> {
        let mut header = [0; HEADER];
        buffer.clear();
        buffer.reserve(length);
        let mut pieces = [
            libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: HEADER },
            libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: length },
        ];
        // SAFETY: every bit pattern is a `msghdr`, and zeros are its empty fields.
        #[expect(unsafe_code, reason = "the structure has private padding, and libc no constructor for it")]
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = pieces.len();
        // SAFETY: the pieces are memory of that length which nothing else uses now, and outlive the call.
        #[expect(unsafe_code, reason = "no safe crate receives into memory that nobody has written yet")]
        let received = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        let frame = received.checked_sub(HEADER).filter(|_| message.msg_flags & libc::MSG_TRUNC == 0);
        let frame = frame.filter(|frame| *frame <= length).ok_or(io::ErrorKind::InvalidData)?;
        // SAFETY: the kernel has written so many bytes, which is no more than was reserved.
        #[expect(unsafe_code, reason = "no safe crate receives into memory that nobody has written yet")]
        unsafe {
            buffer.set_len(frame);
        }
        Ok(header)
    }

    /// An interface's Ethernet address, and whether frames can pass it.
    ///
    /// # Errors
    ///
    /// There is no such interface.
    pub fn state(&self, device: &str) -> io::Result<([u8; 6], bool)> {
        let mut request = request(device)?;
        // SAFETY: the request is an `ifreq` with a name that ends, which the kernel reads and writes no further.
        #[expect(unsafe_code, reason = "no safe crate reads an interface's flags")]
        let flags = unsafe {
            if libc::ioctl(self.0.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) < 0 {
                return Err(io::Error::last_os_error());
            }
            i32::from(request.ifr_ifru.ifru_flags)
        };
        // SAFETY: as before.
        #[expect(unsafe_code, reason = "no safe crate reads an interface's address")]
        let address = unsafe {
            if libc::ioctl(self.0.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) < 0 {
                return Err(io::Error::last_os_error());
            }
            request.ifr_ifru.ifru_hwaddr.sa_data
        };
        let [a, b, c, d, e, f, ..] = address.map(|byte| byte as u8);
        let up = libc::IFF_UP | libc::IFF_RUNNING;
        Ok(([a, b, c, d, e, f], flags & up == up))
    }

    /// How many frames found the ring full since this was last asked.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn missed(&self) -> io::Result<u32> {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of_val(&statistics) as libc::socklen_t;
        // SAFETY: the pointer and length are those of `statistics`, of which the kernel writes no more.
        #[expect(unsafe_code, reason = "no safe crate knows the options of packet sockets")]
        let got = unsafe {
            let value = (&raw mut statistics).cast();
            let option = libc::PACKET_STATISTICS;
            libc::getsockopt(self.0.as_raw_fd(), libc::SOL_PACKET, option, value, &raw mut length)
        };
        if got < 0 { Err(io::Error::last_os_error()) } else { Ok(statistics.tp_drops) }
    }

    /// Reads away the error that an interface leaves behind that went down; it comes up again by itself.
    pub fn clear_error(&self) {
        let _ = sockopt::socket_error(self);
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(crate) fn request(device: &str) -> io::Result<libc::ifreq> {
    // SAFETY: every bit pattern is an `ifreq`, and zeros end its name.
    #[expect(unsafe_code, reason = "the structure has unions, and libc no constructor for it")]
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // The last place stays zero.
    if device.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}
