//! Parameters of a link direction, partial changes to them, and the check that they are consistent.

use std::time::Duration;

use braid_types::BitsPerSec;
use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::values::{Delay, Distribution, Probability, QueueLimit};

/// The lowest rate: below, a full frame takes more than a second.
pub const MIN_RATE: BitsPerSec = BitsPerSec(8_000);
/// The highest rate, beyond that of any interface.
pub const MAX_RATE: BitsPerSec = BitsPerSec(1_000_000_000_000);

/// The parameters of one direction of a link. By default there is no limit, delay or loss.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The rate in bits of frames per second; `None`: unlimited.
    #[serde(default)]
    pub rate: Option<BitsPerSec>,
    /// The length of the queue; it stays empty without a rate.
    #[serde(default)]
    pub queue: QueueLimit,
    /// The delay of a frame after it is sent.
    #[serde(default)]
    pub delay: Delay,
    /// The variation of the delay. Frames keep their order.
    #[serde(default)]
    pub jitter: Delay,
    /// The distribution of jitter.
    #[serde(default)]
    pub distribution: Distribution,
    /// The share of lost frames.
    #[serde(default)]
    pub loss: Probability,
    /// The mean number of frames lost in a row; 1 or less: losses are independent.
    #[serde(default = "one")]
    pub loss_burst: f64,
    /// The share of frames that arrive as soon as they are sent, ahead of those in flight.
    #[serde(default)]
    pub reorder: Probability,
}

/// New values for some parameters.
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

/// Errors of link parameters.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// The rate is out of range.
    #[error("the rate of {0} is out of range: give {MIN_RATE} to {MAX_RATE}")]
    Rate(BitsPerSec),
    /// The jitter exceeds the delay: frames would arrive before they are sent.
    #[error("a jitter of {jitter} is more than the delay of {delay}")]
    Jitter {
        /// The jitter.
        jitter: Delay,
        /// The delay.
        delay: Delay,
    },
    /// The burst length is below one frame, not a number, or above a million frames.
    #[error("a burst of {0} losses is out of range: give 1 to 1000000 frames")]
    LossBurst(f64),
    /// Bursts of losses would have to follow each other without a gap.
    #[error("{loss} of frames cannot be lost in bursts of {burst} with frames that arrive between them")]
    LossTooDense {
        /// The loss rate.
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
    /// The parameters after `change`.
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

    /// Checks that the parameters are consistent.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] with the first problem.
    pub fn check(&self) -> Result<(), ParameterError> {
        if let Some(rate) = self.rate.filter(|rate| !(MIN_RATE..=MAX_RATE).contains(rate)) {
            return Err(ParameterError::Rate(rate));
        }
        if self.jitter > self.delay {
            return Err(ParameterError::Jitter { jitter: self.jitter, delay: self.delay });
        }
        if !(1.0..=1e6).contains(&self.loss_burst) {
            return Err(ParameterError::LossBurst(self.loss_burst));
        }
        let loss = self.loss.share();
        // Gilbert's probability of turning bad, p·r/(1-p), would exceed one.
        if self.loss_burst > 1.0 && loss < 1.0 && loss / (1.0 - loss) > self.loss_burst {
            return Err(ParameterError::LossTooDense { loss: self.loss, burst: self.loss_burst });
        }
        Ok(())
    }

    /// The shortest possible delay.
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

    /// The time to send `bytes`, rounded up, so that the rate is never exceeded.
    pub(crate) fn sending_time(&self, bytes: u32) -> Duration {
        let Some(rate) = self.rate else { return Duration::ZERO };
        let scaled = u64::from(bytes).saturating_mul(8_000_000_000);
        Duration::from_nanos(scaled.div_ceil(rate.0.max(1)))
    }

    /// A random delay of a frame.
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
        // A cast from a float saturates: a negative delay becomes zero.
        Duration::from_nanos(nanos as u64)
    }
}

const fn one() -> f64 {
    1.0
}
