//! Links in a scenario file, and the properties of their directions.

use braid_link_model::{Delay, Distribution, Probability, QueueLimit};
use braid_types::BitsPerSec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::Location;

use crate::scenario::address::Cidr;
use crate::scenario::spanned::Spanned;

/// A link with its properties from the first end to the second.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Link {
    /// Two ends, each `SWITCH` or `HOST.INTERFACE`.
    pub between: Vec<Spanned<String>>,
    /// Addresses of the edge on a link to a router.
    #[serde(default)]
    pub uplink: Vec<Spanned<Cidr>>,
    /// `vxlan`: frames between two switches are carried in UDP, whose headers count in the rate.
    pub tunnel: Option<Spanned<Encapsulation>>,
    /// The rate from the first end to the second; Ethernet frames count.
    pub rate: Spanned<BitsPerSec>,
    /// How long a frame travels, such as `20ms`; at most `60s`.
    pub delay: Option<Spanned<Delay>>,
    /// How far the delay varies.
    pub jitter: Option<Spanned<Delay>>,
    /// How the delay varies.
    pub distribution: Option<Spanned<Distribution>>,
    /// The share of frames that are lost, such as `0.5%`.
    pub loss: Option<Spanned<Probability>>,
    /// How many frames in a row are lost, on average.
    pub loss_burst: Option<Spanned<f64>>,
    /// The share of frames that overtake those before them.
    pub reorder: Option<Spanned<Probability>>,
    /// What waits when the link is busy, `100 packets` or `64kB`; the rest is dropped. 16 ms of the rate by default, at least 32 kB.
    pub queue: Option<Spanned<QueueLimit>>,
    /// Where the reverse direction differs.
    #[serde(default)]
    pub reverse: DirectionParameters,
    /// Short for `reverse: { rate: }`.
    pub reverse_rate: Option<Spanned<BitsPerSec>>,
    /// Short for `queue: BYTES bytes`.
    pub queue_bytes: Option<Spanned<u64>>,
}

impl Link {
    /// A link with the same properties in both directions.
    pub(in crate::scenario) fn like(
        between: Vec<Spanned<String>>,
        direction: &DirectionParameters,
        at: Location,
    ) -> Self {
        let none = Spanned { value: BitsPerSec(1), referenced: at, defined: at };
        Self {
            between,
            uplink: Vec::new(),
            tunnel: None,
            rate: direction.rate.clone().unwrap_or(none),
            delay: direction.delay.clone(),
            jitter: direction.jitter.clone(),
            distribution: direction.distribution.clone(),
            loss: direction.loss.clone(),
            loss_burst: direction.loss_burst.clone(),
            reorder: direction.reorder.clone(),
            queue: direction.queue.clone(),
            reverse: DirectionParameters::default(),
            reverse_rate: None,
            queue_bytes: None,
        }
    }

    /// The properties from the first end to the second.
    pub(in crate::scenario) fn forward(&self) -> DirectionParameters {
        DirectionParameters {
            rate: Some(self.rate.clone()),
            delay: self.delay.clone(),
            jitter: self.jitter.clone(),
            distribution: self.distribution.clone(),
            loss: self.loss.clone(),
            loss_burst: self.loss_burst.clone(),
            reorder: self.reorder.clone(),
            queue: self.queue.clone(),
        }
    }
}

/// How a link carries frames inside packets.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(in crate::scenario) enum Encapsulation {
    /// RFC 7348, by the kernel.
    Vxlan,
}

/// Properties of one direction; missing ones are those of the other direction, or defaults.
#[derive(Deserialize, JsonSchema, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct DirectionParameters {
    /// The rate; Ethernet frames count.
    pub rate: Option<Spanned<BitsPerSec>>,
    /// How long a frame travels, such as `20ms`; at most `60s`.
    pub delay: Option<Spanned<Delay>>,
    /// How far the delay varies.
    pub jitter: Option<Spanned<Delay>>,
    /// How the delay varies.
    pub distribution: Option<Spanned<Distribution>>,
    /// The share of frames that are lost, such as `0.5%`.
    pub loss: Option<Spanned<Probability>>,
    /// How many frames in a row are lost, on average.
    pub loss_burst: Option<Spanned<f64>>,
    /// The share of frames that overtake those before them.
    pub reorder: Option<Spanned<Probability>>,
    /// What waits when the link is busy, `100 packets` or `64kB`; the rest is dropped.
    pub queue: Option<Spanned<QueueLimit>>,
}
