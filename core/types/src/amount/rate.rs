//! Data rates in bits per second.

use std::fmt;
use std::str::FromStr;

use super::{AmountError, Quantity, pattern};
use crate::{amount_schema, serde_as_exact_text, with_schema};

static RATE: Quantity = Quantity {
    name: "a rate",
    units: &[
        ("Tbit", 1_000_000_000_000),
        ("Gbit", 1_000_000_000),
        ("Mbit", 1_000_000),
        ("kbit", 1_000),
        ("bit", 1),
    ],
    scale,
    mistake: |unit| unit.contains('B').then_some("B means bytes, and rates are in bits"),
};

const PREFIXES: [(char, u64); 4] =
    [('k', 1_000), ('m', 1_000_000), ('g', 1_000_000_000), ('t', 1_000_000_000_000)];
/// In any case; the others are not, since a `B` would mean bytes.
const WORDS: [&str; 6] = ["", "bit", "bits", "bit/s", "bits/s", "bits/sec"];
const SHORT_WORDS: [&str; 2] = ["bps", "b/s"];

/// A data rate in bits per second, in powers of ten.
///
/// Text: `100Mbit`; read in other spellings too, such as `100 Mbit/s`, `100Mbps` and `0.1G`. `Display` rounds to four
/// digits, and [`Self::exact`] does not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitsPerSec(pub u64);

impl BitsPerSec {
    /// The rate as a number of bits per second.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// All digits, for files and tools.
    pub fn exact(self) -> String {
        RATE.exact(self.0)
    }
}

fn scale(unit: &str) -> Option<u64> {
    let prefix = unit.chars().next()?;
    let scale =
        PREFIXES.iter().find(|(letter, _)| prefix.eq_ignore_ascii_case(letter)).map(|(_, scale)| *scale);
    let word = if scale.is_some() { unit.get(1..)? } else { unit };
    let known = WORDS.iter().any(|it| it.eq_ignore_ascii_case(word)) || SHORT_WORDS.contains(&word);
    known.then_some(scale.unwrap_or(1))
}

impl FromStr for BitsPerSec {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        RATE.parse(text).map(|bits| Self(bits.value))
    }
}

impl fmt::Display for BitsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&RATE.short(self.0))
    }
}

impl fmt::Debug for BitsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.exact())
    }
}

serde_as_exact_text!(BitsPerSec);
with_schema!(BitsPerSec, amount_schema("a rate in bits per second, such as 100Mbit", &rate_pattern()));

/// The pattern of what [`scale`] reads.
fn rate_pattern() -> String {
    let prefix: String =
        PREFIXES.iter().flat_map(|(letter, _)| [*letter, letter.to_ascii_uppercase()]).collect();
    let words = WORDS.iter().map(|word| any_case(word)).chain(SHORT_WORDS.map(str::to_owned));
    // A number without a unit is no rate, so that nothing stands for bits only behind a prefix.
    let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("|");
    pattern([format!("[{prefix}](?:{words})?|{words}")])
}

fn any_case(word: &str) -> String {
    let letter = |it: char| match it.is_ascii_alphabetic() {
        true => format!("[{}{}]", it.to_ascii_lowercase(), it.to_ascii_uppercase()),
        false => it.to_string(),
    };
    word.chars().map(letter).collect()
}
