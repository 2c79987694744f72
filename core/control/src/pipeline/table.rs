//! The seven tables of the pipeline.

/// The tables of the pipeline, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Table {
    /// Admission of packets, and packets for the controller.
    Admit = 0,
    /// Streams with their own paths.
    Stream = 1,
    /// Default paths by destination.
    Route = 2,
    /// Bypasses of links that are down.
    Bypass = 3,
    /// Labels between switches.
    Fabric = 4,
    /// Attached hosts.
    Deliver = 5,
    /// SYNs of hosts, for the controller.
    Syn = 6,
}

impl Table {
    /// All of them, in order.
    pub const ALL: [Self; TABLES as usize] =
        [Self::Admit, Self::Stream, Self::Route, Self::Bypass, Self::Fabric, Self::Deliver, Self::Syn];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Stream => "stream",
            Self::Route => "route",
            Self::Bypass => "bypass",
            Self::Fabric => "fabric",
            Self::Deliver => "deliver",
            Self::Syn => "syn",
        }
    }
}

/// The number of tables that a switch must have.
pub const TABLES: u8 = 7;
