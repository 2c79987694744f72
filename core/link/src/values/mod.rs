//! What links are described with, as people write it: `20ms`, `1%`, `100 packets`.

mod delay;
mod probability;
mod queue;

use serde::{Deserialize, Serialize};

pub use delay::Delay;
pub use probability::Probability;
pub use queue::QueueLimit;

/// How jitter is distributed around the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Everything from `delay - jitter` to `delay + jitter` is as likely.
    #[default]
    Uniform,
    /// A bell with a standard deviation of `jitter`, cut off at 3.4 of them.
    Normal,
}

/// The number at the start of a text, and what follows it without the space between.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}
