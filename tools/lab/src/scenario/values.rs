//! Named values of scenario files: modes, tools, protocols, metrics and others.

use std::fmt;

use braid_types::exact_size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The mode of traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Plain TCP: one path.
    Tcp,
    /// The kernel's MPTCP, RFC 8684.
    Mptcp,
    /// UDP at a rate.
    Udp,
    /// QUIC (RFC 9000), which is UDP to the network and has its own congestion control.
    Quic,
}

/// The tool that makes traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
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
    /// `tquic_client` gets a file from `tquic_server` at the sender, by HTTP/3 (RFC 9114).
    Http3,
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathManager {
    /// The kernel, by its endpoints.
    #[default]
    Kernel,
    /// Braid's agent, with several subflows between the same two addresses.
    Agent,
}

/// Which value stands for all repetitions of a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// Their sum over their number.
    #[default]
    Mean,
    /// The one in the middle, or the mean of the two in the middle.
    Median,
}

/// The protocol of cross traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP, with an optional maximum rate.
    #[default]
    Tcp,
    /// UDP at a fixed rate.
    Udp,
}

/// A controller of a cluster, by what it does when an event happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ControllerRole {
    /// The one that leads.
    Leader,
    /// One that stands by.
    Standby,
}

/// The packets to capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Packets {
    /// TCP packets that set up connections and subflows.
    Mptcp,
    /// The headers of all packets.
    All,
}

/// The value of an expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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
    /// The share of UDP's datagrams that did not arrive.
    DatagramsLost,
    /// The 99th percentile of the waits for answers to requests, over that before the transfers.
    RequestP99OverIdle,
    /// How often another controller of a cluster leads than before.
    LeaderChanges,
    /// The longest time, in seconds, in which no controller of a cluster is master of all switches.
    LongestWithoutLeader,
    /// The a of n = max(1, a·B·R), fitted to transfers over single paths.
    StreamsA,
}

/// The setting that decides an expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aggregate {
    /// The worst one: all settings must keep the limit.
    #[default]
    Worst,
    /// The best one: one setting is enough.
    Best,
}

/// The agents on hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agents {
    /// No agents: the kernel opens subflows.
    #[default]
    None,
    /// Agents open subflows as the controller advises.
    Managed,
}

impl Average {
    /// The average of these; NaN of none.
    pub(crate) fn of(self, values: impl Iterator<Item = f64>) -> f64 {
        let mut values: Vec<_> = values.collect();
        values.sort_by(f64::total_cmp);
        let half = values.len() / 2;
        let chosen = match self {
            Self::Mean => values.as_slice(),
            Self::Median => values.get(values.len().saturating_sub(1) / 2..=half).unwrap_or_default(),
        };
        chosen.iter().sum::<f64>() / chosen.len() as f64
    }
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
                | Self::DatagramsLost
                | Self::RequestP99OverIdle
                | Self::LeaderChanges
                | Self::LongestWithoutLeader
        )
    }

    /// Whether the value exists only for clusters of controllers.
    pub(super) const fn is_of_clusters(self) -> bool {
        matches!(self, Self::LeaderChanges | Self::LongestWithoutLeader)
    }

    /// Whether the value exists only for copies and files.
    pub(super) const fn is_of_copies(self) -> bool {
        matches!(self, Self::Intact | Self::LongestStall)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Udp => "udp",
            Self::Quic => "quic",
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        })
    }
}

impl Tool {
    /// Whether the tool carries a fixed number of bytes.
    pub const fn needs_bytes(self) -> bool {
        matches!(self, Self::Copy | Self::Http | Self::Ftp | Self::Http3)
    }

    /// Whether the receiver opens the connections and fetches the data.
    pub const fn is_got(self) -> bool {
        matches!(self, Self::Http | Self::Ftp | Self::Http3)
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
            Self::Http3 => "http3",
        })
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            0 => self.tool.fmt(f),
            bytes => write!(f, "{} {}", self.tool, exact_size(bytes)),
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
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let of = |average: Average, values: &[f64]| average.of(values.iter().copied());
        assert_eq!(of(Average::Median, &[9.0, 1.0, 3.0]), 3.0);
        assert_eq!(of(Average::Median, &[9.0, 1.0, 3.0, 5.0]), 4.0);
        assert_eq!(of(Average::Mean, &[9.0, 1.0, 3.0, 5.0]), 4.5);
        assert!(of(Average::Median, &[]).is_nan() && of(Average::Mean, &[]).is_nan());
    }
}
