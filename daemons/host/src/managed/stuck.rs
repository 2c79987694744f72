//! Detection of stuck subflows by their retransmissions, over `inet_diag`.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use braid_api::SubflowEnds;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::netlink::{NetlinkError, Socket};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const IPPROTO_TCP: u8 = 6;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const ESTABLISHED: u32 = 1 << 1;
const RETRANSMITTING: u8 = 1;
/// About a second and a half on a path of usual delay, and twice as many round trips as any reordering lasts.
const LOST_IN_A_ROW: u8 = 3;

/// Finds subflows that get nothing through, long before TCP gives them up: `linux/inet_diag.h`.
#[derive(Debug)]
pub struct Stuck {
    socket: Socket,
}

impl Stuck {
    /// Opens what it asks through.
    ///
    /// # Errors
    ///
    /// The kernel has no such netlink.
    pub fn open() -> Result<Self, NetlinkError> {
        Ok(Self { socket: Socket::open_protocol(NETLINK_SOCK_DIAG)? })
    }

    /// The TCP connections of this namespace that have sent the same data again several times, and heard nothing.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn find(&mut self) -> Result<BTreeSet<SubflowEnds>, NetlinkError> {
        let mut found = BTreeSet::new();
        for family in [AF_INET, AF_INET6] {
            let mut request = vec![family, IPPROTO_TCP, 0, 0];
            request.extend(ESTABLISHED.to_ne_bytes());
            request.resize(56, 0);
            self.socket.ask_all("list connections", SOCK_DIAG_BY_FAMILY, &request, |payload| {
                found.extend(stuck(payload));
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// The ends of the connection that `struct inet_diag_msg` is about, if it is stuck.
fn stuck(message: &[u8]) -> Option<SubflowEnds> {
    let [family, _, timer, retransmits] = *message.first_chunk::<4>()?;
    if timer != RETRANSMITTING || retransmits < LOST_IN_A_ROW {
        return None;
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(retransmits: u8) -> Vec<u8> {
        let mut message = vec![AF_INET, 1, RETRANSMITTING, retransmits, 0x4e, 0x21, 0x13, 0x88, 10, 0, 0, 1];
        message.resize(24, 0);
        message.extend([10, 0, 0, 2]);
        message.resize(72, 0);
        message
    }

    #[test]
    fn connection_is_stuck_after_three_retransmissions_in_a_row() {
        let ends =
            SubflowEnds { local: ([10, 0, 0, 1], 20_001).into(), remote: ([10, 0, 0, 2], 5_000).into() };
        assert_eq!(stuck(&message(3)), Some(ends));
        assert_eq!(stuck(&message(2)), None);
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100), length in 0..72_usize) {
            let _ = (stuck(&bytes), stuck(&message(9)[..length]));
        }
    }
}
