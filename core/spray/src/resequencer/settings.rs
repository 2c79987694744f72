//! Settings of the resequencer: thresholds, hold time and memory limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The behaviour of a [`Resequencer`](super::Resequencer), and its limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// T of algorithm 1, in bytes of packets: when a flow holds more, all of it is released.
    pub threshold: u32,
    /// LRF of algorithm 1: after that, as many packets of the last one's size pass without waiting for each other.
    pub loss_recovery: u32,
    /// The greatest hold time of a packet.
    pub hold: HoldTime,
    /// The number of paths of a flow. A gap is given up once so many have delivered something sent after it, if each path
    /// keeps its order; 0 if they do not.
    pub paths: u8,
    /// A segment further from the expected one, in bytes, is not trusted.
    pub horizon: u32,
    /// The greatest number of known flows.
    pub flows: u32,
    /// The greatest number of held packets of all flows.
    pub packets: u32,
    /// The greatest number of held bytes of all flows.
    pub bytes: u64,
}

/// The time that a packet waits for those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldTime {
    /// A fixed time.
    Fixed(Duration),
    /// 1.5 times the greatest lateness of packets in the last 10 to 20 s.
    Measured {
        /// The least hold time.
        least: Duration,
        /// The greatest hold time, also while nothing was measured.
        most: Duration,
    },
}

/// Why settings are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The horizon reaches half of the sequence space.
    #[error("a horizon of {0} bytes is out of range; give 65536 to 1073741824")]
    Horizon(u32),
    /// There would be no flow, or too many for the memory.
    #[error("{0} flows are out of range; give 1 to 1048576")]
    Flows(u32),
    /// The numbers of slots would overflow.
    #[error("{0} packets are out of range; give 1 to 16777216")]
    Packets(u32),
    /// The hold time is too long, or its limits are reversed.
    #[error("a time of {least:?} to {most:?} to hold packets is out of range; give at most 10 s")]
    Hold {
        /// The shorter end.
        least: Duration,
        /// The longer end.
        most: Duration,
    },
}

/// Longer than any skew of paths, and short enough that senders have not given up.
const LONGEST: Duration = Duration::from_secs(10);

impl Default for Settings {
    fn default() -> Self {
        Self {
            threshold: 4 << 20,
            loss_recovery: 20,
            hold: HoldTime::Measured { least: Duration::from_millis(5), most: Duration::from_millis(100) },
            paths: 2,
            horizon: 16 << 20,
            flows: 65_536,
            packets: 65_536,
            bytes: 64 << 20,
        }
    }
}

impl Settings {
    /// Whether the settings are valid.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] with the first problem.
    pub fn check(&self) -> Result<(), SettingsError> {
        let (least, most) = self.hold.range();
        if least > most || most > LONGEST {
            return Err(SettingsError::Hold { least, most });
        }
        if !(1 << 16..=1 << 30).contains(&self.horizon) {
            return Err(SettingsError::Horizon(self.horizon));
        }
        if !(1..=1 << 20).contains(&self.flows) {
            return Err(SettingsError::Flows(self.flows));
        }
        if !(1..=1 << 24).contains(&self.packets) {
            return Err(SettingsError::Packets(self.packets));
        }
        Ok(())
    }
}

impl HoldTime {
    pub(super) const fn range(self) -> (Duration, Duration) {
        match self {
            Self::Fixed(time) => (time, time),
            Self::Measured { least, most } => (least, most),
        }
    }
}
