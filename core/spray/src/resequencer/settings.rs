//! Settings of the resequencer: thresholds, hold time and memory limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a [`Resequencer`](super::Resequencer) behaves, and what it may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// T of algorithm 1, in bytes of packets: when a flow holds more, all of it goes.
    pub threshold: u32,
    /// LRF of algorithm 1: after that, as many packets of the last one's size pass without waiting for each other.
    pub loss_recovery: u32,
    /// How long a packet waits at most.
    pub hold: HoldTime,
    /// Over how many paths a flow comes. A gap is given up once so many have delivered what is behind it, if each path
    /// keeps its order; 0 if they do not.
    pub paths: u8,
    /// A segment that is further from the expected one, in bytes, is not believed.
    pub horizon: u32,
    /// Flows that are known at once, at most.
    pub flows: u32,
    /// Packets of all flows that are held at once, at most.
    pub packets: u32,
    /// Bytes of all flows that are held at once, at most.
    pub bytes: u64,
}

/// How long a packet waits for those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldTime {
    /// So long.
    Fixed(Duration),
    /// Half as long again as packets were seen to be late in the last 10 to 20 s.
    Measured {
        /// But at least so long.
        least: Duration,
        /// And at most, as long as nothing was measured, too.
        most: Duration,
    },
}

/// Why settings are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The horizon reaches half of the sequence space.
    #[error("a horizon of {0} bytes is out of range; give 65536 to 1073741824")]
    Horizon(u32),
    /// There would be no flow, or more than memory for them.
    #[error("{0} flows are out of range; give 1 to 1048576")]
    Flows(u32),
    /// The numbers of slots would overflow.
    #[error("{0} packets are out of range; give 1 to 16777216")]
    Packets(u32),
    /// It would be longer than anybody waits, or end before it begins.
    #[error("a time of {least:?} to {most:?} to hold packets is out of range; give at most 10 s")]
    Hold {
        /// The shorter end.
        least: Duration,
        /// The longer end.
        most: Duration,
    },
}

/// Longer than any path differs from another, and short enough that senders have not given up.
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
    /// Whether they can be met.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] with the first that cannot.
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
