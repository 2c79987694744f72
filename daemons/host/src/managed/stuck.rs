//! Detection of stuck subflows by their retransmissions, over `inet_diag`.

use std::collections::BTreeSet;

use braid_api::SubflowEnds;

use crate::diag::{self, Diag};
use crate::netlink::NetlinkError;

const RETRANSMITTING: u8 = 1;
/// About a second and a half on a path of usual delay, and twice as many round trips as any reordering lasts.
const LOST_IN_A_ROW: u8 = 3;

/// Finds subflows that get nothing through, long before TCP gives them up: `linux/inet_diag.h`.
#[derive(Debug)]
pub struct Stuck {
    diag: Diag,
}

impl Stuck {
    /// Opens what it asks through.
    ///
    /// # Errors
    ///
    /// The kernel has no such netlink.
    pub fn open() -> Result<Self, NetlinkError> {
        Ok(Self { diag: Diag::open()? })
    }

    /// The TCP connections of this namespace that have sent the same data again several times, and heard nothing.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn find(&mut self) -> Result<BTreeSet<SubflowEnds>, NetlinkError> {
        let mut found = BTreeSet::new();
        self.diag.each_tcp(|message| found.extend(stuck(message)))?;
        Ok(found)
    }
}

/// The ends of the connection that `struct inet_diag_msg` is about, if it is stuck.
fn stuck(message: &[u8]) -> Option<SubflowEnds> {
    let [_, _, timer, retransmits] = *message.first_chunk::<4>()?;
    let is_stuck = timer == RETRANSMITTING && retransmits >= LOST_IN_A_ROW;
    if is_stuck { diag::ends(message) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AF_INET: u8 = 2;

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
