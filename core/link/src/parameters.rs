//! Parameters of a link direction, partial changes to them, and the check that they are consistent.

use std::time::Duration;

use braid_types::BitsPerSec;
use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::values::{Delay, Distribution, Probability, QueueLimit};

/// Below, a full frame takes more than a second.
pub const LEAST_RATE: BitsPerSec = BitsPerSec(8_000);
/// Beyond what any interface has.
pub const MOST_RATE: BitsPerSec = BitsPerSec(1_000_000_000_000);

/// What one direction of a link is like. The default is a cable: no limit, no delay, no loss.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Bits of frames that it sends a second; `None`: at once.
    #[serde(default)]
    pub rate: Option<BitsPerSec>,
    /// What waits while it sends; without a rate, nothing ever does.
    #[serde(default)]
    pub queue: QueueLimit,
    /// How long a frame is on the way once it is sent.
    #[serde(default)]
    pub delay: Delay,
    /// How far the delay strays. Frames keep their order all the same.
    #[serde(default)]
    pub jitter: Delay,
    /// How it strays.
    #[serde(default)]
    pub distribution: Distribution,
    /// The share of frames that are sent and never arrive.
    #[serde(default)]
    pub loss: Probability,
    /// How many frames in a row are lost, on average; 1 or less: each is lost or not by itself.
    #[serde(default = "one")]
    pub loss_burst: f64,
    /// The share of frames that arrive as soon as they are sent, ahead of those on the way.
    #[serde(default)]
    pub reorder: Probability,
}

/// New values for some parameters; the others stay.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Change {
    /// See [`Parameters::rate`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitsPerSec>,
    /// See [`Parameters::queue`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimit>,
    /// See [`Parameters::delay`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    /// See [`Parameters::jitter`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Delay>,
    /// See [`Parameters::distribution`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    /// See [`Parameters::loss`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Probability>,
    /// See [`Parameters::loss_burst`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_burst: Option<f64>,
    /// See [`Parameters::reorder`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Probability>,
}

/// Why parameters make no link.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// Hardly anything would ever be sent, or no machine could.
    #[error("the rate of {0} is out of range; give {LEAST_RATE} to {MOST_RATE}")]
    Rate(BitsPerSec),
    /// Frames would have to arrive before they are sent.
    #[error("a jitter of {jitter} is more than the delay of {delay}")]
    Jitter {
        /// How far the delay is to stray.
        jitter: Delay,
        /// The delay.
        delay: Delay,
    },
    /// It is below one frame, not a number, or longer than a million frames.
    #[error("a burst of {0} losses is out of range; give 1 to 1000000 frames")]
    LossBurst(f64),
    /// A burst of losses would have to follow at once on the one before.
    #[error("{loss} of frames cannot be lost in bursts of {burst} with frames that arrive between them")]
    LossTooDense {
        /// The share that is to be lost.
        loss: Probability,
        /// The mean length of a burst.
        burst: f64,
    },
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            rate: None,
            queue: QueueLimit::default(),
            delay: Delay::ZERO,
            jitter: Delay::ZERO,
            distribution: Distribution::default(),
            loss: Probability::ZERO,
            loss_burst: 1.0,
            reorder: Probability::ZERO,
        }
    }
}

impl Parameters {
    /// These, with `change` made.
    pub fn with(self, change: &Change) -> Self {
        Self {
            rate: change.rate.or(self.rate),
            queue: change.queue.unwrap_or(self.queue),
            delay: change.delay.unwrap_or(self.delay),
            jitter: change.jitter.unwrap_or(self.jitter),
            distribution: change.distribution.unwrap_or(self.distribution),
            loss: change.loss.unwrap_or(self.loss),
            loss_burst: change.loss_burst.unwrap_or(self.loss_burst),
            reorder: change.reorder.unwrap_or(self.reorder),
        }
    }

    /// Whether a link can be like this.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] with the first thing that is wrong. A link that is made all the same only behaves oddly.
    pub fn check(&self) -> Result<(), ParameterError> {
        if let Some(rate) = self.rate.filter(|rate| !(LEAST_RATE..=MOST_RATE).contains(rate)) {
            return Err(ParameterError::Rate(rate));
        }
        if self.jitter > self.delay {
            return Err(ParameterError::Jitter { jitter: self.jitter, delay: self.delay });
        }
        if !(1.0..=1e6).contains(&self.loss_burst) {
            return Err(ParameterError::LossBurst(self.loss_burst));
        }
        let loss = self.loss.share();
        // Gilbert's chance of turning bad, p·r/(1-p), must be one.
        if self.loss_burst > 1.0 && loss < 1.0 && loss / (1.0 - loss) > self.loss_burst {
            return Err(ParameterError::LossTooDense { loss: self.loss, burst: self.loss_burst });
        }
        Ok(())
    }

    /// No frame is on the way for less.
    pub fn shortest(&self) -> Duration {
        if self.reorder > Probability::ZERO {
            return Duration::ZERO;
        }
        let reach = match self.distribution {
            Distribution::Uniform => self.jitter.duration(),
            // Two times the root of three: the sum of four numbers goes no further.
            Distribution::Normal => self.jitter.duration().saturating_mul(7) / 2,
        };
        self.delay.duration().saturating_sub(reach)
    }

    /// How long `bytes` take to send, rounded up, so that the rate is never exceeded.
    pub(crate) fn sending_time(&self, bytes: u32) -> Duration {
        let Some(rate) = self.rate else { return Duration::ZERO };
        let scaled = u64::from(bytes).saturating_mul(8_000_000_000);
        Duration::from_nanos(scaled.div_ceil(rate.0.max(1)))
    }

    /// How long a frame is on the way.
    pub(crate) fn travel_time(&self, random: &mut Random) -> Duration {
        let (delay, jitter) = (self.delay.duration(), self.jitter.duration());
        if jitter.is_zero() {
            return delay;
        }
        let stray = match self.distribution {
            Distribution::Uniform => random.uniform(),
            Distribution::Normal => random.normal(),
        };
        let nanos = delay.as_nanos() as f64 + jitter.as_nanos() as f64 * stray;
        // A cast from a float saturates: what would arrive before it was sent arrives at once.
        Duration::from_nanos(nanos as u64)
    }
}

const fn one() -> f64 {
    1.0
}
