//! Decimal numbers, in integers: nothing is lost on the way to the smallest unit.

/// The digits that people are shown.
const SHORT_DIGITS: u32 = 4;
/// The digits of a fraction that count; a time of a year in nanoseconds has seventeen.
const MAX_FRACTION: usize = 18;

/// A number in the smallest unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scaled {
    pub(super) value: u64,
    /// Whether it is not rounded.
    pub(super) is_whole: bool,
}

/// The number at the start of a text, and its unit.
pub(super) fn split(text: &str) -> (&str, &str) {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    (number, unit.trim_start())
}

/// Whether it has digits, and at most one point.
pub(super) fn is_decimal(number: &str) -> bool {
    number.bytes().any(|byte| byte.is_ascii_digit()) && number.matches('.').count() <= 1
}

pub(super) fn is_zero(number: &str) -> bool {
    number.bytes().all(|byte| b"0.".contains(&byte))
}

/// A decimal number times `scale`; `None` beyond 64 bits.
pub(super) fn scaled(number: &str, scale: u64) -> Option<Scaled> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let (counted, rest) = fraction.split_at(fraction.len().min(MAX_FRACTION));
    let one = 10_u128.pow(u32::try_from(counted.len()).ok()?);
    let parts = counted.parse::<u128>().unwrap_or(0) * u128::from(scale);
    let value = u128::from(whole) * u128::from(scale) + (parts + one / 2) / one;
    let is_whole = parts.is_multiple_of(one) && is_zero(rest);
    u64::try_from(value).ok().map(|value| Scaled { value, is_whole })
}

/// The nearest number that has zeros after its first digits.
pub(super) fn rounded(value: u64) -> u64 {
    let digits = value.checked_ilog10().map_or(1, |log| log + 1);
    let step = 10_u64.pow(digits.saturating_sub(SHORT_DIGITS));
    value.checked_add(step / 2).map_or(value, |sum| sum / step * step)
}
