//! What links are described with, as people write it: `20ms`, `1%`, `100 packets`.

mod delay;
mod probability;
mod queue;

use serde::{Deserialize, Serialize};

pub use delay::Delay;
pub use probability::Probability;
pub use queue::QueueLimit;

/// A text that does not mean a value of a link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {form}")]
pub struct ValueError {
    form: &'static str,
    text: String,
}

impl ValueError {
    fn new(form: &'static str, text: &str) -> Self {
        Self { form, text: text.to_owned() }
    }
}

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

/// Serialises as what it prints, and reads what it parses.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

use serde_as_text;

/// The number at the start of a text, and what follows it without the space between.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}
