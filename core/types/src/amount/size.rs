//! Numbers of bytes.

use super::error::Problem;
use super::{AmountError, Quantity, pattern};

static SIZE: Quantity = Quantity {
    name: "a size",
    units: &[("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)],
    scale,
    mistake: |unit| unit.contains('b').then_some("b means bits, and sizes are in bytes"),
};

const SPELLINGS: [(&[&str], u64); 9] = [
    (&["B", "byte", "bytes"], 1),
    (&["kB", "KB"], 1_000),
    (&["MB"], 1_000_000),
    (&["GB"], 1_000_000_000),
    (&["TB"], 1_000_000_000_000),
    (&["KiB", "kiB"], 1 << 10),
    (&["MiB"], 1 << 20),
    (&["GiB"], 1 << 30),
    (&["TiB"], 1 << 40),
];

fn scale(unit: &str) -> Option<u64> {
    SPELLINGS.iter().find(|(names, _)| names.contains(&unit)).map(|(_, scale)| *scale)
}

/// The pattern of the texts that [`parse_size`] reads, for JSON schemas.
pub fn size_pattern() -> String {
    pattern(SPELLINGS.iter().flat_map(|(names, _)| names.iter()))
}

/// A whole number of bytes, such as `200MB`, `1.5 GB`, `64KiB` or `1000 bytes`.
///
/// # Errors
///
/// [`AmountError`], which says how sizes are written.
pub fn parse_size(text: &str) -> Result<u64, AmountError> {
    let bytes = SIZE.parse(text)?;
    let fraction =
        || AmountError { quantity: &SIZE, text: text.trim().to_owned(), problem: Problem::Fraction };
    bytes.is_whole.then_some(bytes.value).ok_or_else(fraction)
}

/// The size with at most four significant digits, for people.
pub fn short_size(bytes: u64) -> String {
    SIZE.short(bytes)
}

/// The size with all digits, for files and tools.
pub fn exact_size(bytes: u64) -> String {
    SIZE.exact(bytes)
}
