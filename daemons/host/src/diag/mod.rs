//! Counters of TCP and MPTCP sockets over netlink (`linux/inet_diag.h`).

mod connection;
mod subflow;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use braid_api::SubflowEnds;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::netlink::{NetlinkError, Socket, Writer};

pub use connection::ConnectionInfo;
pub use subflow::SubflowInfo;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const IPPROTO_TCP: u8 = 6;
/// The lower byte of it stands where an older kernel looks, which takes it for TCP.
const IPPROTO_MPTCP: u32 = 262;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const ESTABLISHED: u32 = 1 << 1;
const REQ_PROTOCOL: u16 = 3;
const INFO: u16 = 2;
const ULP_INFO: u16 = 19;
/// The length of `struct inet_diag_req_v2` and of `struct inet_diag_msg`, after which attributes follow.
const REQUEST: usize = 56;
const MESSAGE: usize = 72;

/// The established TCP and MPTCP sockets of a network namespace.
#[derive(Debug)]
pub struct Diag {
    socket: Socket,
}

impl Diag {
    /// Opens what it asks through, in the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// The kernel has no such netlink.
    pub fn open() -> Result<Self, NetlinkError> {
        Ok(Self { socket: Socket::open_protocol(NETLINK_SOCK_DIAG)? })
    }

    /// Calls `each` with the `struct inet_diag_msg` of every TCP socket, subflows of MPTCP included.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn each_tcp(&mut self, each: impl FnMut(&[u8])) -> Result<(), NetlinkError> {
        self.each(0, &Writer::default(), each)
    }

    /// The subflows of MPTCP connections.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn subflows(&mut self) -> Result<Vec<SubflowInfo>, NetlinkError> {
        let mut subflows = Vec::new();
        self.each(INFO, &Writer::default(), |message| subflows.extend(SubflowInfo::decode(message)))?;
        Ok(subflows)
    }

    /// The MPTCP connections; none before Linux 6.5, which does not count what they have sent.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn connections(&mut self) -> Result<Vec<ConnectionInfo>, NetlinkError> {
        let mut connections = Vec::new();
        let protocol = Writer::default().u32(REQ_PROTOCOL, IPPROTO_MPTCP);
        self.each(INFO, &protocol, |message| connections.extend(ConnectionInfo::decode(message)))?;
        Ok(connections)
    }

    fn each(
        &mut self,
        extension: u16,
        attributes: &Writer,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), NetlinkError> {
        let extension = extension.checked_sub(1).map_or(0, |bit| 1 << bit);
        for family in [AF_INET, AF_INET6] {
            let mut request = vec![family, IPPROTO_TCP, extension, 0];
            request.extend(ESTABLISHED.to_ne_bytes());
            request.resize(REQUEST, 0);
            request.extend(attributes.as_bytes());
            self.socket.ask_all("list connections", SOCK_DIAG_BY_FAMILY, &request, |payload| {
                each(payload);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The ends of the socket that a `struct inet_diag_msg` is about.
pub(crate) fn ends(message: &[u8]) -> Option<SubflowEnds> {
    let family = *message.first()?;
    let end = |port: usize, address: usize| {
        let port = u16::from_be_bytes(*message.get(port..)?.first_chunk()?);
        let address: IpAddr = match family {
            AF_INET => Ipv4Addr::from(*message.get(address..)?.first_chunk::<4>()?).into(),
            _ => Ipv6Addr::from(*message.get(address..)?.first_chunk::<16>()?).into(),
        };
        Some(SocketAddr::new(address.to_canonical(), port))
    };
    Some(SubflowEnds { local: end(4, 8)?, remote: end(6, 24)? })
}

/// Integers at offsets of a structure of the kernel, which older kernels end earlier.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&self, at: usize) -> Option<u32> {
        self.0.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.0.get(at..)?.first_chunk().copied().map(u64::from_ne_bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A message about an IPv4 socket, with these attributes.
    pub(super) fn message(attributes: &Writer) -> Vec<u8> {
        let mut message = vec![AF_INET, 1, 0, 0, 0x4e, 0x21, 0x13, 0x88, 10, 0, 0, 1];
        message.resize(24, 0);
        message.extend([10, 0, 0, 2]);
        message.resize(MESSAGE, 0);
        message.extend(attributes.as_bytes());
        message
    }

    #[test]
    fn ends_are_read_in_network_byte_order() {
        let ends = ends(&message(&Writer::default())).unwrap();
        assert_eq!(ends.to_string(), "10.0.0.1:20001 > 10.0.0.2:5000");
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = (ends(&bytes), SubflowInfo::decode(&bytes), ConnectionInfo::decode(&bytes));
            let about = message(&Writer::default().bytes(INFO, &bytes).bytes(ULP_INFO, &bytes));
            let _ = (SubflowInfo::decode(&about), ConnectionInfo::decode(&about));
        }
    }
}
