//! Roles of switch ports (pending, host, link, silent) and the transitions between them.

/// What a port leads to.
///
/// ```text
///            settled                     LLDP heard
///  Pending ───────────▶ Host      Pending, Host, Silent ───────▶ Link
///     ▲                   │                                       │ LLDP missing
///     └─ port down and up ┴──────────── Silent ◀──────────────────┘
/// ```
///
/// A silent port stays one until the port has been down for [`role_hold`](crate::Settings::role_hold): behind it may
/// be a switch that forwards and is not connected, and to flood there could close a loop. A port that has shown a host
/// stays a host's for as long, whatever discovery frames come in there: hosts can pass them on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Too new for a decision; only discovery frames pass.
    Pending,
    /// Hosts may be there.
    Host,
    /// Another switch is there.
    Link,
    /// Another switch was there and is not heard any more.
    Silent,
}
