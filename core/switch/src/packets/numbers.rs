//! EtherTypes and IP protocols as keys have them. IANA's registries "IEEE 802 Numbers" and "Protocol Numbers".

pub(crate) const IPV4: u64 = 0x0800;
pub(crate) const ARP: u64 = 0x0806;
pub(crate) const IPV6: u64 = 0x86dd;

pub(crate) const ICMPV4: u64 = 1;
pub(crate) const TCP: u64 = 6;
pub(crate) const UDP: u64 = 17;
pub(crate) const ICMPV6: u64 = 58;
pub(crate) const SCTP: u64 = 132;
