//! Braid's experimenter messages, which extend OpenFlow 1.3 groups and ports. `docs/openflow-extensions.md`.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use braid_openflow::{Bytes, DecodeError, Experimenter, ExperimenterId, GroupId, Part, Reader};
use braid_spray::{HoldTime, Policy, Settings};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo};

use crate::Ends;

/// Braid's experimenter id: a locally administered OUI.
pub const BRAID: ExperimenterId = ExperimenterId(0x0002_b7b7);

const SET_SPRAY: u32 = 1;
const SET_PATHS: u32 = 2;
const SET_RESEQUENCE: u32 = 3;
const SET_PROBING: u32 = 6;
const SET_TUNNEL: u32 = 9;
const SET_BFD: u32 = 10;
/// Buckets of a group.
const MAX_BUCKETS: usize = 64;

/// A message about a group or a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extension {
    /// Makes a select group spray: it chooses a bucket for each packet.
    SetSpray {
        /// The group.
        group: GroupId,
        /// The scheduler.
        policy: Policy,
    },
    /// Changes the weights of buckets from the next packet on.
    SetPaths {
        /// The group.
        group: GroupId,
        /// The changed buckets.
        paths: Vec<PathUpdate>,
    },
    /// Makes an indirect group resequence TCP; `None` turns it off.
    SetResequence {
        /// The group.
        group: GroupId,
        /// Hold times and limits.
        settings: Option<Settings>,
    },
    /// Makes a spraying group probe its paths and adapt its weights.
    SetProbing {
        /// The group.
        group: GroupId,
        /// The probing.
        probing: Probing,
    },
    /// Makes a spraying group encapsulate IP other than TCP in GRE with sequence numbers for each flow, and a resequencing
    /// group decapsulate and resequence it. `None` turns it off.
    SetTunnel {
        /// The group.
        group: GroupId,
        /// The tunnel ends of each bucket's path. For a resequencing group, the outer addresses of packets that are taken
        /// out, at least one pair; [`Ends::ANY`] are all.
        ends: Option<Vec<Ends>>,
    },
    /// Lets the edge answer BFD (RFC 5880) at a port, or not. A port whose session has gone down is not live.
    SetBfd {
        /// The port.
        port: PortNo,
        /// Whether it answers.
        is_on: bool,
    },
}

/// The properties of a bucket of a spraying group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathUpdate {
    /// Its index, from 0.
    pub bucket: u32,
    /// Its weight; 0: unused.
    pub weight: u32,
    /// Its rate.
    pub rate: Option<BitsPerSec>,
    /// Its delay without queues.
    pub delay: Duration,
}

/// The probing of a group's paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probing {
    /// The interval of probes on a path; zero turns probing off.
    pub interval: Duration,
    /// The time without answers, in addition to the round-trip time, after which a path is dead; sooner while others answer.
    pub patience: Duration,
    /// The edge at the other end of all paths.
    pub peer: DatapathId,
    /// For each bucket, the label of answers on the reverse path.
    pub backs: Vec<MacAddr>,
}

impl Extension {
    /// Decodes a message of [`BRAID`]; `None` if its type is unknown.
    ///
    /// # Errors
    ///
    /// The message has the wrong length, or a value is out of range.
    pub fn decode(message: &Experimenter<'_>) -> Result<Option<Self>, DecodeError> {
        let mut reader = Reader::new(Part::Experimenter, message.data.0);
        let extension = match message.exp_type {
            SET_SPRAY => {
                let (group, policy) = (reader.read()?, reader.read::<u32>()?);
                let burst = reader.read()?;
                let policy = if policy == 0 { Policy::Weighted { burst } } else { Policy::DelayAware };
                Self::SetSpray { group, policy }
            }
            SET_PATHS => Self::SetPaths { group: reader.read()?, paths: read_paths(&mut reader)? },
            SET_RESEQUENCE => {
                let (group, on) = (reader.read()?, reader.read::<u32>()?);
                let settings = read_settings(&mut reader)?;
                Self::SetResequence { group, settings: (on != 0).then_some(settings) }
            }
            SET_TUNNEL => {
                let (group, on) = (reader.read()?, reader.read::<u32>()?);
                let ends = read_ends(&mut reader)?;
                Self::SetTunnel { group, ends: (on != 0).then_some(ends) }
            }
            SET_PROBING => Self::SetProbing { group: reader.read()?, probing: read_probing(&mut reader)? },
            SET_BFD => Self::SetBfd { port: reader.read()?, is_on: reader.read::<u32>()? != 0 },
            _ => return Ok(None),
        };
        reader.finish()?;
        Ok(Some(extension))
    }

    /// The body, for [`Self::message`].
    pub fn body(&self) -> Vec<u8> {
        let mut words = Vec::new();
        match self {
            Self::SetSpray { group, policy } => {
                let (policy, burst) = match policy {
                    Policy::Weighted { burst } => (0, *burst),
                    Policy::DelayAware => (1, 0),
                };
                words.extend([group.0, policy, burst]);
            }
            Self::SetPaths { group, paths } => {
                words.push(group.0);
                paths.iter().for_each(|path| words.extend(path.words()));
            }
            Self::SetResequence { group, settings } => {
                words.extend([group.0, settings.is_some().into()]);
                words.extend(settings_words(&settings.unwrap_or_default()));
            }
            Self::SetProbing { group, probing } => {
                words.push(group.0);
                words.extend(probing_words(probing));
            }
            Self::SetTunnel { group, ends } => {
                words.extend([group.0, ends.is_some().into()]);
                ends.iter().flatten().for_each(|ends| words.extend(ends_words(ends)));
            }
            Self::SetBfd { port, is_on } => words.extend([port.0, (*is_on).into()]),
        }
        words.into_iter().flat_map(u32::to_be_bytes).collect()
    }

    /// The message with `body`.
    pub const fn message<'a>(&self, body: &'a [u8]) -> Experimenter<'a> {
        let exp_type = match self {
            Self::SetSpray { .. } => SET_SPRAY,
            Self::SetPaths { .. } => SET_PATHS,
            Self::SetResequence { .. } => SET_RESEQUENCE,
            Self::SetProbing { .. } => SET_PROBING,
            Self::SetTunnel { .. } => SET_TUNNEL,
            Self::SetBfd { .. } => SET_BFD,
        };
        Experimenter { experimenter: BRAID, exp_type, data: Bytes(body) }
    }
}

impl PathUpdate {
    fn words(&self) -> [u32; 4] {
        let kbps = self.rate.map_or(0, |rate| rate.0 / 1_000);
        [self.bucket, self.weight, kbps.try_into().unwrap_or(u32::MAX), micros(self.delay)]
    }
}

fn read_paths(reader: &mut Reader<'_>) -> Result<Vec<PathUpdate>, DecodeError> {
    let mut paths = Vec::new();
    while !reader.is_empty() {
        let (bucket, weight, kbps) = (reader.read()?, reader.read()?, reader.read::<u32>()?);
        let rate = (kbps != 0).then(|| BitsPerSec(u64::from(kbps) * 1_000));
        let delay = Duration::from_micros(reader.read::<u32>()?.into());
        paths.push(PathUpdate { bucket, weight, rate, delay });
    }
    Ok(paths)
}

fn read_probing(reader: &mut Reader<'_>) -> Result<Probing, DecodeError> {
    let [interval, patience] =
        [reader.read::<u32>()?, reader.read()?].map(|micros| Duration::from_micros(micros.into()));
    let peer = DatapathId(word(reader)?);
    let mut backs = Vec::new();
    while !reader.is_empty() && backs.len() < MAX_BUCKETS {
        backs.push(MacAddr::from_u64(word(reader)?));
    }
    Ok(Probing { interval, patience, peer, backs })
}

/// Pairs of addresses of 128 bits, with IPv4 mapped as in RFC 4291 §2.5.5.2.
fn read_ends(reader: &mut Reader<'_>) -> Result<Vec<Ends>, DecodeError> {
    let mut all = Vec::new();
    while !reader.is_empty() && all.len() < MAX_BUCKETS {
        all.push(Ends { src: read_address(reader)?, dst: read_address(reader)? });
    }
    Ok(all)
}

fn read_address(reader: &mut Reader<'_>) -> Result<IpAddr, DecodeError> {
    let bits = u128::from(word(reader)?) << 64 | u128::from(word(reader)?);
    Ok(IpAddr::V6(Ipv6Addr::from_bits(bits)).to_canonical())
}

fn ends_words(ends: &Ends) -> impl Iterator<Item = u32> {
    [ends.src, ends.dst].into_iter().flat_map(|address| {
        let bits = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
            IpAddr::V6(address) => address.to_bits(),
        };
        [96, 64, 32, 0].map(|shift| (bits >> shift) as u32)
    })
}

fn word(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
    Ok(u64::from(reader.read::<u32>()?) << 32 | u64::from(reader.read::<u32>()?))
}

fn probing_words(probing: &Probing) -> Vec<u32> {
    let halves = |word: u64| [(word >> 32) as u32, word as u32];
    let times = [micros(probing.interval), micros(probing.patience)];
    let backs = probing.backs.iter().flat_map(|back| halves(back.to_u64()));
    times.into_iter().chain(halves(probing.peer.0)).chain(backs).collect()
}

fn read_settings(reader: &mut Reader<'_>) -> Result<Settings, DecodeError> {
    let (threshold, loss_recovery) = (reader.read()?, reader.read()?);
    let [least, most] =
        [reader.read::<u32>()?, reader.read()?].map(|micros| Duration::from_micros(micros.into()));
    let hold = if least == most { HoldTime::Fixed(most) } else { HoldTime::Measured { least, most } };
    let paths = reader.read::<u32>()?.try_into().unwrap_or(u8::MAX);
    let (horizon, flows, packets) = (reader.read()?, reader.read()?, reader.read()?);
    let bytes = u64::from(reader.read::<u32>()?) << 10;
    Ok(Settings { threshold, loss_recovery, hold, paths, horizon, flows, packets, bytes })
}

fn settings_words(settings: &Settings) -> [u32; 9] {
    let (least, most) = match settings.hold {
        HoldTime::Fixed(time) => (time, time),
        HoldTime::Measured { least, most } => (least, most),
    };
    [
        settings.threshold,
        settings.loss_recovery,
        micros(least),
        micros(most),
        settings.paths.into(),
        settings.horizon,
        settings.flows,
        settings.packets,
        (settings.bytes >> 10).try_into().unwrap_or(u32::MAX),
    ]
}

fn micros(duration: Duration) -> u32 {
    duration.as_micros().try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probing(paths: u64) -> Probing {
        Probing {
            interval: Duration::from_millis(20),
            patience: Duration::from_millis(120),
            peer: DatapathId(u64::MAX - 1),
            backs: (0..paths).map(|path| MacAddr::from_u64(0x02b7_0000_0001 + path)).collect(),
        }
    }

    fn ends(src: &str, dst: &str) -> Ends {
        Ends { src: src.parse().unwrap(), dst: dst.parse().unwrap() }
    }

    #[test]
    fn extensions_are_read_as_they_are_written() {
        let group = GroupId(7);
        let update = PathUpdate {
            bucket: 1,
            weight: 30,
            rate: Some(BitsPerSec(20_000_000)),
            delay: Duration::from_micros(1_500),
        };
        for extension in [
            Extension::SetSpray { group, policy: Policy::Weighted { burst: 3_000 } },
            Extension::SetSpray { group, policy: Policy::DelayAware },
            Extension::SetPaths { group, paths: vec![update, PathUpdate { rate: None, ..update }] },
            Extension::SetResequence { group, settings: Some(Settings::default()) },
            Extension::SetResequence { group, settings: Some(Settings { paths: 3, ..Settings::default() }) },
            Extension::SetTunnel { group, ends: None },
            Extension::SetTunnel { group, ends: Some(Vec::new()) },
            Extension::SetTunnel {
                group,
                ends: Some(vec![ends("192.0.2.1", "192.0.2.2"), ends("fd00::1", "fd00::2")]),
            },
            Extension::SetProbing { group, probing: probing(2) },
            Extension::SetProbing { group, probing: probing(0) },
            Extension::SetBfd { port: PortNo(7), is_on: true },
            Extension::SetBfd { port: PortNo(7), is_on: false },
        ] {
            let body = extension.body();
            assert_eq!(Extension::decode(&extension.message(&body)), Ok(Some(extension.clone())));
            let cut = extension.message(&body[..body.len() - 1]);
            assert!(Extension::decode(&cut).is_err());
        }
        let unknown = Experimenter { experimenter: BRAID, exp_type: 99, data: Bytes(&[]) };
        assert_eq!(Extension::decode(&unknown), Ok(None));
    }
}
