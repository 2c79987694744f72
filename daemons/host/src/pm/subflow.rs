//! Local connection tokens and subflow ends in netlink's form.

use std::fmt;
use std::net::SocketAddr;

use serde::{Serialize, Serializer};

use super::endpoint::{self, ID, PORT};
use crate::netlink::Writer;

/// The token of a connection on this host; the peer has another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(pub u32);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An end of a subflow; the address id is that of the local end.
pub(super) fn encode_end(end: SocketAddr, id: Option<u8>) -> Writer {
    let writer = endpoint::address(Writer::default(), end.ip()).u16(PORT, end.port());
    id.into_iter().fold(writer, |writer, id| writer.u8(ID, id))
}
