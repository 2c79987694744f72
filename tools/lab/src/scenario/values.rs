//! Values of scenario files (modes, tools, protocols, metrics and others) with their text forms.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The mode of traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Plain TCP: one path.
    Tcp,
    /// The kernel's MPTCP, RFC 8684.
    Mptcp,
}

/// The tool that makes traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// iperf3: one long transfer.
    Iperf3,
    /// Braid's copy over one connection, hashed at both ends.
    Copy,
    /// Debian's GridFTP client and server: parallel connections that carry a file, or zeros for a time.
    Gridftp,
    /// `wget` gets a file from Python's `http.server` at the sender.
    Http,
    /// `wget` gets a file from `vsftpd` at the sender.
    Ftp,
}

/// A tool with a length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Work {
    /// The tool.
    pub tool: Tool,
    /// The bytes; 0: as many as possible in the time.
    pub bytes: u64,
}

/// A use of an MPTCP endpoint, see `ip-mptcp(8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointFlag {
    /// Subflows are opened from it.
    Subflow,
    /// It is announced to the peer.
    Signal,
    /// It carries data only without other subflows.
    Backup,
    /// Subflows are opened from it to every address of the peer.
    Fullmesh,
}

/// A path manager: what opens the subflows of a host's connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathManager {
    /// The kernel, by its endpoints.
    #[default]
    Kernel,
    /// Braid's agent, with several subflows between the same two addresses.
    Agent,
}

/// The protocol of cross traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP, with an optional maximum rate.
    #[default]
    Tcp,
    /// UDP at a fixed rate.
    Udp,
}

/// The packets to capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Packets {
    /// TCP packets that set up connections and subflows.
    Mptcp,
    /// The headers of all packets.
    All,
}

/// The value of an expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Goodput at the receiver in bits per second.
    GoodputBps,
    /// Goodput over the maximum flow between the two hosts.
    FractionOfCapacity,
    /// The same for every run, not for the mean.
    WorstFractionOfCapacity,
    /// The mean of [`Self::FractionOfCapacity`] over all directions.
    MeanFractionOfCapacity,
    /// The cross traffic's share of all goodput.
    BackgroundShare,
    /// The number of different paths of the streams.
    Paths,
    /// The size of the largest set of these paths without a common link.
    DisjointPaths,
    /// 1 if every byte arrived with the same SHA-256 at both ends, otherwise 0; of copies and files.
    Intact,
    /// The longest time without received data, in seconds; of copies and files.
    LongestStall,
    /// The longest time, in seconds, with goodput below a quarter of the maximum flow, once it was above.
    LongestDegradation,
    /// Jain's index of the streams' bytes: 1 if all are equal, 1/n if one of n carried all.
    StreamFairness,
    /// The mean over the measured seconds of Jain's index of each second.
    StreamFairnessPerSecond,
    /// The number of TCP streams of a connection that carried data: with MPTCP its subflows.
    Subflows,
    /// The number of packet-ins with MP_JOIN.
    JoinPacketIns,
    /// The fewest streams with goodput within 2 % of the maximum.
    PeakStreams,
    /// Jain's index of the goodputs of simultaneous transfers.
    Fairness,
    /// The sum of simultaneous goodputs over the maximum flow from all senders to all receivers.
    SumFractionOfCapacity,
    /// The a of n = max(1, a·B·R), fitted to transfers over single paths.
    StreamsA,
}

/// The setting that decides an expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregate {
    /// The worst one: all settings must keep the limit.
    #[default]
    Worst,
    /// The best one: one setting is enough.
    Best,
}

/// The agents on hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agents {
    /// No agents: the kernel opens subflows.
    #[default]
    None,
    /// Agents open subflows as the controller advises.
    Managed,
}

impl Metric {
    /// Whether the expectation has to hold in every run, not on average.
    pub(crate) const fn is_of_every_run(self) -> bool {
        matches!(
            self,
            Self::Paths
                | Self::DisjointPaths
                | Self::Intact
                | Self::LongestStall
                | Self::LongestDegradation
                | Self::JoinPacketIns
                | Self::Subflows
                | Self::WorstFractionOfCapacity
        )
    }

    /// Whether the value exists only for copies and files.
    pub(super) const fn is_of_copies(self) -> bool {
        matches!(self, Self::Intact | Self::LongestStall)
    }
}

/// One value, or a list of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OneOrList<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrListVisitor(PhantomData))
    }
}

// Unlike an untagged enum, it preserves the errors of its content.
struct OneOrListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrListVisitor<T> {
    type Value = OneOrList<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one, or a list")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrList<T>, E> {
        T::deserialize(text.into_deserializer()).map(|one| OneOrList(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrList<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(OneOrList(all))
    }
}

/// A number of bytes above zero, written `200MB`, `64kB` or `1000 bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ByteCount(pub u64);

/// An invalid number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a number of bytes such as 200MB, 64kB or 1000 bytes")]
pub(super) struct ByteCountError(String);

impl FromStr for ByteCount {
    type Err = ByteCountError;

    fn from_str(text: &str) -> Result<Self, ByteCountError> {
        let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("bytes", 1)];
        let split = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
        let count =
            split.and_then(|(number, scale)| number.trim_end().parse::<u64>().ok()?.checked_mul(scale));
        count.filter(|count| *count > 0).map(Self).ok_or_else(|| ByteCountError(text.to_owned()))
    }
}

impl TryFrom<String> for ByteCount {
    type Error = ByteCountError;

    fn try_from(text: String) -> Result<Self, ByteCountError> {
        text.parse()
    }
}

/// A time after the start of a transfer, written `5s`, `1.5s`, `500ms` or `2min`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Moment(pub Duration);

/// An invalid time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a time such as 5s, 1.5s, 500ms or 2min")]
pub(super) struct MomentError(String);

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        let units = [("ms", 0.001), ("min", 60.0), ("s", 1.0)];
        let split = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
        let seconds = split.and_then(|(number, scale)| Some(number.parse::<f64>().ok()? * scale));
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.map(Self).ok_or_else(|| MomentError(text.to_owned()))
    }
}

impl TryFrom<String> for Moment {
    type Error = MomentError;

    fn try_from(text: String) -> Result<Self, MomentError> {
        text.parse()
    }
}

/// A whole number of seconds, written `15s` or `2min`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Seconds(pub u32);

/// An invalid duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a duration such as 15s or 2min")]
pub struct SecondsError(String);

impl FromStr for Seconds {
    type Err = SecondsError;

    fn from_str(text: &str) -> Result<Self, SecondsError> {
        let (number, scale) = match (text.strip_suffix("min"), text.strip_suffix('s')) {
            (Some(number), _) => (number, 60),
            (None, Some(number)) => (number, 1),
            (None, None) => (text, 0),
        };
        let seconds = number.parse::<u32>().ok().and_then(|number| number.checked_mul(scale));
        seconds.filter(|_| scale > 0).map(Self).ok_or_else(|| SecondsError(text.to_owned()))
    }
}

impl TryFrom<String> for Seconds {
    type Error = SecondsError;

    fn try_from(text: String) -> Result<Self, SecondsError> {
        text.parse()
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        Self::from_secs(seconds.0.into())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
        })
    }
}

impl Tool {
    /// Whether the tool carries a fixed number of bytes.
    pub const fn needs_bytes(self) -> bool {
        matches!(self, Self::Copy | Self::Http | Self::Ftp)
    }

    /// Whether the receiver opens the connections and fetches the data.
    pub const fn is_got(self) -> bool {
        matches!(self, Self::Http | Self::Ftp)
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iperf3 => "iperf3",
            Self::Copy => "copy",
            Self::Gridftp => "gridftp",
            Self::Http => "http",
            Self::Ftp => "ftp",
        })
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, " bytes")];
        let unit = units.into_iter().find(|(scale, _)| self.bytes.is_multiple_of(*scale));
        match unit.filter(|_| self.bytes > 0) {
            Some((scale, unit)) => write!(f, "{} {}{unit}", self.tool, self.bytes / scale),
            None => self.tool.fmt(f),
        }
    }
}

impl fmt::Display for EndpointFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subflow => "subflow",
            Self::Signal => "signal",
            Self::Backup => "backup",
            Self::Fullmesh => "fullmesh",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_moments_read_in_every_unit() {
        for (text, bytes) in
            [("2GB", 2_000_000_000), ("200MB", 200_000_000), ("64 kB", 64_000), ("7 bytes", 7)]
        {
            assert_eq!(text.parse(), Ok(ByteCount(bytes)));
        }
        for text in ["", "0MB", "200", "1.5MB", "-1kB", "99999999999999GB", "MB"] {
            assert!(text.parse::<ByteCount>().is_err(), "{text}");
        }
        for (text, millis) in [("5s", 5_000), ("1.5s", 1_500), ("500ms", 500), ("2min", 120_000), ("0s", 0)] {
            assert_eq!(text.parse(), Ok(Moment(Duration::from_millis(millis))));
        }
        for text in ["", "5", "s", "-1s", "1e400s", "soon"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_read_in_both_units() {
        assert_eq!("15s".parse(), Ok(Seconds(15)));
        assert_eq!("2min".parse(), Ok(Seconds(120)));
        for text in ["", "s", "15", "-1s", "1.5s", "4294967295min"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
