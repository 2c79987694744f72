//! Words of scenario files: modes, tools, protocols, metrics and others, with their text forms.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// How the traffic is carried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Plain TCP: one path.
    Tcp,
    /// Multipath TCP of the kernel, RFC 8684.
    Mptcp,
}

/// What makes the traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// One long transfer that measures itself.
    Iperf3,
    /// One connection of Braid's own that carries so many bytes, which both ends hash.
    Copy,
    /// Debian's GridFTP, client and server, unmodified: parallel connections that carry a file, or zeros for a time.
    Gridftp,
    /// `wget` gets a file from Python's `http.server` at the sender.
    Http,
    /// `wget` gets a file from `vsftpd` at the sender.
    Ftp,
}

/// What makes a transfer, and how much it carries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Work {
    /// What makes it.
    pub tool: Tool,
    /// 0: what it can in its time.
    pub bytes: u64,
}

/// What an MPTCP endpoint is for, see `ip-mptcp(8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointFlag {
    /// Subflows are opened from it.
    Subflow,
    /// It is announced to the peer.
    Signal,
    /// It carries data only when nothing else does.
    Backup,
    /// Subflows are opened from it to every address of the peer.
    Fullmesh,
}

/// Who opens the subflows of a host's connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathManager {
    /// The kernel, from its endpoints.
    #[default]
    Kernel,
    /// Braid's agent, any number between the same two addresses.
    Agent,
}

/// What the background sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// As much as it can, or a rate at most.
    #[default]
    Tcp,
    /// A rate, whatever becomes of it.
    Udp,
}

/// Which packets of a host are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Packets {
    /// Those of TCP that set connections and subflows up.
    Mptcp,
    /// The headers of all.
    All,
}

/// A value that an expectation is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Goodput at the receiver in bits per second.
    GoodputBps,
    /// Goodput over the maximum flow between the two hosts.
    FractionOfCapacity,
    /// The same of every run, not of their mean.
    WorstFractionOfCapacity,
    /// The mean of [`Self::FractionOfCapacity`] over all directions.
    MeanFractionOfCapacity,
    /// What the background carries of all that is carried.
    BackgroundShare,
    /// How many different paths the streams take.
    Paths,
    /// How many of those can be had without two that pass the same two switches one after the other.
    DisjointPaths,
    /// 1 if every byte arrived and both ends have the same SHA-256, else 0; of so many bytes.
    Intact,
    /// The longest time in which nothing arrived, in seconds; of so many bytes.
    LongestPause,
    /// The longest time, in seconds, in which goodput stayed below a quarter of the maximum flow, once it had been more.
    LongestSlump,
    /// Jain's index of what the streams carried: 1 if all carried the same, 1/n if one of n carried all.
    StreamFairness,
    /// How many packets that open further subflows of Multipath TCP the controller was sent.
    JoinPacketIns,
    /// With how many streams goodput first comes within 2 % of the most.
    PeakStreams,
    /// Jain's index of the goodputs of all that go on at the same time.
    Fairness,
    /// The goodputs of all that go on at the same time over the maximum flow from all senders to all receivers.
    SumFractionOfCapacity,
    /// The a of n = max(1, a·B·R), fitted to what was sent over single paths.
    StreamsA,
}

/// Which of the settings that an expectation is about decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deciding {
    /// The one that is furthest from what is expected: all must be so.
    #[default]
    Worst,
    /// The one that comes nearest: one is enough.
    Best,
}

/// What agents on hosts do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agents {
    /// There are none: the kernel opens subflows.
    #[default]
    None,
    /// They open subflows as the controller advises.
    Managed,
}

impl Metric {
    /// Whether it has to hold in every run, not on average.
    pub(crate) const fn is_of_every_run(self) -> bool {
        matches!(
            self,
            Self::Paths
                | Self::DisjointPaths
                | Self::Intact
                | Self::LongestPause
                | Self::LongestSlump
                | Self::JoinPacketIns
                | Self::WorstFractionOfCapacity
        )
    }

    /// Whether only a copy tells.
    pub(super) const fn is_of_copies(self) -> bool {
        matches!(self, Self::Intact | Self::LongestPause)
    }
}

/// One of something, or a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Several<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeveralVisitor(PhantomData))
    }
}

// Unlike an untagged enum, it leaves the errors of what is in it as they are.
struct SeveralVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SeveralVisitor<T> {
    type Value = Several<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one, or a list")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Several<T>, E> {
        T::deserialize(text.into_deserializer()).map(|one| Several(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Several<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(Several(all))
    }
}

/// A number of bytes above zero, written `200MB`, `64kB` or `1000 bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ByteCount(pub u64);

/// Why a text is not a number of bytes.
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

/// Why a text is not a time.
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

/// Why a text is not a number of seconds.
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
    /// Whether it carries so many bytes, and no less.
    pub const fn needs_bytes(self) -> bool {
        matches!(self, Self::Copy | Self::Http | Self::Ftp)
    }

    /// Whether a receiver gets what is to be sent: the connections are its.
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
