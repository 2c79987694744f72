//! Schemas of identifiers and times, which are types of `braid-types`.
#![expect(dead_code, reason = "only their schemas are used")]

use utoipa::ToSchema;

/// Identifies a switch: 16 bits chosen by the implementer, 48 usually a MAC address. OpenFlow 1.3.5 §7.3.1.
#[derive(ToSchema)]
#[schema(as = DatapathId, value_type = String, pattern = "^[0-9a-f]{16}$", example = "000000000000002a")]
pub(crate) struct Dpid(String);

/// A port of a switch, or one of the reserved numbers. OpenFlow 1.3.5 §7.2.1.
#[derive(ToSchema)]
#[schema(as = PortNo, value_type = u32)]
pub(crate) struct PortNumber(u32);

/// One end of a link: a port of a named switch.
#[derive(ToSchema)]
#[schema(as = SwitchPort)]
pub(crate) struct PortOfSwitch {
    /// The switch.
    dpid: Dpid,
    /// Its port.
    port: PortNumber,
}

/// An Ethernet address.
#[derive(ToSchema)]
#[schema(as = MacAddr, value_type = String, pattern = "^([0-9a-f]{2}:){5}[0-9a-f]{2}$")]
pub(crate) struct Mac(String);

/// A point in time: nanoseconds since the controller started.
#[derive(ToSchema)]
#[schema(as = Time, value_type = u64)]
pub(crate) struct Nanoseconds(u64);

/// One direction of a TCP connection.
#[derive(ToSchema)]
#[schema(as = FiveTuple)]
pub(crate) struct Tuple {
    /// The sender's address.
    src: String,
    /// The receiver's.
    dst: String,
    /// The sender's port.
    src_port: u16,
    /// The receiver's.
    dst_port: u16,
}
