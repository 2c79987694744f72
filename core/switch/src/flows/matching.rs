//! Matches compiled to masks and values, with the prerequisites of fields checked.

use braid_openflow::{BadMatchCode, ErrorCode, Masked, Match, OxmField, VlanVid};
use braid_types::MacAddr;

use crate::packets::key::{self, Field, Key};
use crate::packets::numbers::{ARP, ICMPV4, ICMPV6, IPV4, IPV6, SCTP, TCP, UDP};

/// A match: its mask, and the value under the mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Matcher {
    pub(crate) value: Key,
    pub(crate) mask: Key,
}

impl Matcher {
    /// Compiles `matching`.
    ///
    /// Fails for fields that this switch does not have, fields without their prerequisites (OpenFlow 1.3.5 §7.2.3.6), and
    /// repeated fields.
    pub(crate) fn new(matching: &Match<'_>) -> Result<Self, ErrorCode> {
        let mut matcher = Self::default();
        for field in matching.fields {
            matcher.check_prerequisites(&field)?;
            matcher.add(&field)?;
        }
        Ok(matcher)
    }

    fn add(&mut self, field: &OxmField<'_>) -> Result<(), ErrorCode> {
        match field {
            OxmField::InPort(port) => self.exact(key::IN_PORT, port.0),
            OxmField::Metadata(it) => self.narrow(key::METADATA, it.value.0, it.mask.map(|mask| mask.0)),
            OxmField::EthDst(it) => self.mac(key::ETH_DST, it),
            OxmField::EthSrc(it) => self.mac(key::ETH_SRC, it),
            OxmField::EthType(it) => self.exact(key::ETH_TYPE, it.0),
            OxmField::VlanVid(it) => {
                self.narrow(key::VLAN_VID, it.value.0.into(), it.mask.map(|mask| mask.0.into()))
            }
            OxmField::VlanPcp(it) => self.exact(key::VLAN_PCP, *it),
            OxmField::IpDscp(it) => self.exact(key::IP_DSCP, *it),
            OxmField::IpEcn(it) => self.exact(key::IP_ECN, *it),
            OxmField::IpProto(it) => self.exact(key::IP_PROTO, *it),
            OxmField::TcpSrc(it) | OxmField::UdpSrc(it) | OxmField::SctpSrc(it) => {
                self.port(key::SRC_PORT, it)
            }
            OxmField::TcpDst(it) | OxmField::UdpDst(it) | OxmField::SctpDst(it) => {
                self.port(key::DST_PORT, it)
            }
            OxmField::TcpFlags(it) => {
                self.narrow(key::TCP_FLAGS, it.value.0.into(), it.mask.map(|mask| mask.0.into()))
            }
            OxmField::Icmpv4Type(it) | OxmField::Icmpv6Type(it) => self.exact(key::ICMP_TYPE, *it),
            OxmField::Icmpv4Code(it) | OxmField::Icmpv6Code(it) => self.exact(key::ICMP_CODE, *it),
            OxmField::ArpOp(it) => self.exact(key::ARP_OP, *it),
            OxmField::ArpSha(it) => self.mac(key::ARP_SHA, it),
            OxmField::ArpTha(it) => self.mac(key::ARP_THA, it),
            OxmField::Ipv4Src(it) | OxmField::ArpSpa(it) => self.v4(key::SRC_IP, it),
            OxmField::Ipv4Dst(it) | OxmField::ArpTpa(it) => self.v4(key::DST_IP, it),
            OxmField::Ipv6Src(it) => self.v6(key::SRC_IP, it),
            OxmField::Ipv6Dst(it) => self.v6(key::DST_IP, it),
            OxmField::Ipv6NdTarget(it) => self.v6(key::ND_TARGET, it),
            _ => Err(ErrorCode::BadMatch(BadMatchCode::BadField)),
        }
    }

    fn exact(&mut self, field: Field, value: impl Into<u64>) -> Result<(), ErrorCode> {
        self.narrow(field, value.into(), None)
    }

    fn port(&mut self, field: Field, port: &Masked<u16>) -> Result<(), ErrorCode> {
        self.narrow(field, port.value.into(), port.mask.map(u64::from))
    }

    fn mac(&mut self, field: Field, mac: &Masked<MacAddr>) -> Result<(), ErrorCode> {
        self.narrow(field, mac.value.to_u64(), mac.mask.map(MacAddr::to_u64))
    }

    fn narrow(&mut self, field: Field, value: u64, mask: Option<u64>) -> Result<(), ErrorCode> {
        if self.mask.get(field) != 0 {
            return Err(ErrorCode::BadMatch(BadMatchCode::DupField));
        }
        let mask = mask.unwrap_or(u64::MAX);
        if value & !mask != 0 {
            return Err(ErrorCode::BadMatch(BadMatchCode::BadWildcards));
        }
        self.mask.set(field, mask);
        self.value.set(field, value);
        Ok(())
    }

    fn v4(&mut self, word: usize, address: &Masked<std::net::Ipv4Addr>) -> Result<(), ErrorCode> {
        let mask = address.mask.map_or(u32::MAX, std::net::Ipv4Addr::to_bits);
        self.wide(word, address.value.to_bits().into(), mask.into())
    }

    fn v6(&mut self, word: usize, address: &Masked<std::net::Ipv6Addr>) -> Result<(), ErrorCode> {
        let mask = address.mask.map_or(u128::MAX, std::net::Ipv6Addr::to_bits);
        self.wide(word, address.value.to_bits(), mask)
    }

    fn wide(&mut self, word: usize, value: u128, mask: u128) -> Result<(), ErrorCode> {
        if value & !mask != 0 {
            return Err(ErrorCode::BadMatch(BadMatchCode::BadWildcards));
        }
        self.mask.set_wide(word, mask);
        self.value.set_wide(word, value);
        Ok(())
    }

    fn check_prerequisites(&self, field: &OxmField<'_>) -> Result<(), ErrorCode> {
        let (eth_types, protocol): (&[u64], Option<u64>) = match field {
            OxmField::VlanPcp(_) => return self.require(self.value.get(key::VLAN_VID) & TAGGED != 0),
            OxmField::IpDscp(_) | OxmField::IpEcn(_) | OxmField::IpProto(_) => (&[IPV4, IPV6], None),
            OxmField::Ipv4Src(_) | OxmField::Ipv4Dst(_) => (&[IPV4], None),
            OxmField::Ipv6Src(_) | OxmField::Ipv6Dst(_) => (&[IPV6], None),
            OxmField::TcpSrc(_) | OxmField::TcpDst(_) | OxmField::TcpFlags(_) => (&[IPV4, IPV6], Some(TCP)),
            OxmField::UdpSrc(_) | OxmField::UdpDst(_) => (&[IPV4, IPV6], Some(UDP)),
            OxmField::SctpSrc(_) | OxmField::SctpDst(_) => (&[IPV4, IPV6], Some(SCTP)),
            OxmField::Icmpv4Type(_) | OxmField::Icmpv4Code(_) => (&[IPV4], Some(ICMPV4)),
            OxmField::Icmpv6Type(_) | OxmField::Icmpv6Code(_) | OxmField::Ipv6NdTarget(_) => {
                (&[IPV6], Some(ICMPV6))
            }
            OxmField::ArpOp(_)
            | OxmField::ArpSpa(_)
            | OxmField::ArpTpa(_)
            | OxmField::ArpSha(_)
            | OxmField::ArpTha(_) => (&[ARP], None),
            _ => return Ok(()),
        };
        let eth_type = Some(self.value.get(key::ETH_TYPE)).filter(|_| self.mask.get(key::ETH_TYPE) != 0);
        let has = |protocol| self.mask.get(key::IP_PROTO) != 0 && self.value.get(key::IP_PROTO) == protocol;
        self.require(eth_type.is_some_and(|it| eth_types.contains(&it)) && protocol.is_none_or(has))
    }

    const fn require(&self, met: bool) -> Result<(), ErrorCode> {
        if met { Ok(()) } else { Err(ErrorCode::BadMatch(BadMatchCode::BadPrereq)) }
    }
}

const TAGGED: u64 = VlanVid::PRESENT.0 as u64;
