//! Frames that show whether a degraded link without traffic has become clean: both ends count them, and the receiving
//! switch drops them.

use braid_topology::Link;
use braid_types::MacAddr;

use crate::command::Target;
use crate::context::Context;

/// Frames sent into a link each tick.
const FRAMES: usize = 10;
/// Longer frames are damaged more often.
const FRAME_BYTES: usize = 512;
/// No address of a host or label; no rule of a switch matches it.
const DESTINATION: MacAddr = MacAddr::from_u64(0x02b9_0000_0001);
/// The EtherType for experiments. IEEE 802, Local Experimental Ethertype 1.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];

/// Sends test frames into a link.
pub(super) fn send(cx: &mut Context<'_>, link: Link) {
    let Some(port) = cx.topology.port(link.src) else { return };
    let head = [&DESTINATION.octets()[..], &port.mac.octets(), &ETHER_TYPE].concat();
    let mut frame = head;
    frame.resize(FRAME_BYTES, 0);
    for _ in 0..FRAMES {
        cx.out.send(link.src.dpid, Target::Port(link.src.port), &frame);
    }
}
