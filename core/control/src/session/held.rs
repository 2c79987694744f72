//! Packets of hosts that arrive between the role and the end of the handshake.
//!
//! No other controller gets them, and a host would wait a second before it sends the next one.

use braid_openflow::PacketIn;

/// Packets that are held; of more, those that come later are dropped.
const MAX_HELD: usize = 64;
/// Their bytes.
const MAX_BYTES: usize = 64 << 10;
const LLDP: [u8; 2] = [0x88, 0xcc];

/// Messages with packets, in the order in which they arrived.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) messages: Vec<Vec<u8>>,
    bytes: usize,
}

impl Held {
    /// Holds a packet, and the message that it came in. A discovery frame may be of the controller before; new ones follow.
    pub(super) fn note(&mut self, packet: &PacketIn<'_>, message: &[u8]) {
        let bytes = self.bytes.saturating_add(message.len());
        let is_probe = packet.data.0.get(12..14) == Some(&LLDP);
        if !is_probe && self.messages.len() < MAX_HELD && bytes <= MAX_BYTES {
            self.messages.push(message.to_vec());
            self.bytes = bytes;
        }
    }
}
