//! Values of link parameters with their text forms: `20ms`, `1%`, `100 packets`.

mod delay;
mod probability;
mod queue;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use delay::Delay;
pub use probability::Probability;
pub use queue::QueueLimit;

/// The distribution of jitter around the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Uniform from `delay - jitter` to `delay + jitter`.
    #[default]
    Uniform,
    /// Normal with standard deviation `jitter`, truncated at 3.4 deviations.
    Normal,
}

/// The number at the start of a text, and the rest without leading space.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}
