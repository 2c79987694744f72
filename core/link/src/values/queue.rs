//! A queue length in packets or bytes, parsed and printed as `100 packets` or `64kB`.

use std::fmt;
use std::str::FromStr;

use braid_types::{
    ParseError, parse_size, serde_as_exact_text, short_size, size_pattern, text_schema, with_schema,
};

use super::split_number;

const FORM: &str = "a length of a queue: write 100 packets, 64kB or 30000 bytes";

/// The length of a queue, beyond which frames are dropped; the frame being sent does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// A number of frames of any length.
    Packets(u64),
    /// A number of bytes of frames.
    Bytes(u64),
}

impl Default for QueueLimit {
    fn default() -> Self {
        Self::Packets(1_000)
    }
}

impl FromStr for QueueLimit {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text).ok_or_else(|| ParseError::new(FORM, text))
    }
}

fn parse(text: &str) -> Option<QueueLimit> {
    match split_number(text.trim()) {
        Some((number, "packet" | "packets")) => whole(number).map(QueueLimit::Packets),
        // Zero of what?
        Some((_, "")) => None,
        _ => parse_size(text).ok().map(QueueLimit::Bytes),
    }
}

fn whole(number: f64) -> Option<u64> {
    // Beyond 2^53 a float skips numbers, and memory ends long before.
    (number.fract() == 0.0 && number < 9e15).then_some(number as u64)
}

impl QueueLimit {
    /// All digits, for files and tools.
    pub fn exact(self) -> String {
        self.text(|bytes| format!("{bytes} bytes"))
    }

    fn text(self, size: fn(u64) -> String) -> String {
        match self {
            Self::Packets(1) => "1 packet".to_owned(),
            Self::Packets(count) => format!("{count} packets"),
            Self::Bytes(count) => size(count),
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(short_size))
    }
}

serde_as_exact_text!(QueueLimit);
with_schema!(QueueLimit, text_schema(FORM, &format!(r"\d+(?:\.0*)? *packets?|{}", size_pattern())));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_round_trip() {
        for (text, limit) in [
            ("100 packets", QueueLimit::Packets(100)),
            ("100packets", QueueLimit::Packets(100)),
            ("1 packet", QueueLimit::Packets(1)),
            ("1.5MB", QueueLimit::Bytes(1_500_000)),
            ("64kB", QueueLimit::Bytes(64_000)),
            ("30000 bytes", QueueLimit::Bytes(30_000)),
            ("123456 bytes", QueueLimit::Bytes(123_456)),
            ("0B", QueueLimit::Bytes(0)),
        ] {
            assert_eq!(text.parse(), Ok(limit));
            assert_eq!(limit.exact().parse(), Ok(limit));
        }
    }

    #[test]
    fn lengths_without_a_unit_or_in_parts_are_refused() {
        for text in ["", "100", "packets", "1.5 packets", "0.0001kB", "-1 packets", "1e30MB", "10 frames"] {
            assert!(text.parse::<QueueLimit>().is_err(), "{text}");
        }
    }
}
