//! The checksum of the Internet protocols. RFC 1071.

use crate::packet::UDP_CHECKSUM;

/// Recomputes the checksum of an IPv4 header; `None` if it is truncated.
pub fn put_ipv4_checksum(header: &mut [u8]) -> Option<()> {
    header.get_mut(10..12)?.fill(0);
    let checksum = !fold(sum(header));
    header.get_mut(10..12)?.copy_from_slice(&checksum.to_be_bytes());
    Some(())
}

/// Completes a checksum in whose place the sum of the pseudo-header is; `None` if one of the positions is behind the end.
pub(crate) fn complete(data: &mut [u8], covered: usize, place: usize) -> Option<()> {
    let checksum = !fold(sum(data.get(covered..)?));
    // UDP sends a checksum of zero as ones, since zero means none.
    let is_zero = checksum == 0 && place.checked_sub(covered) == Some(UDP_CHECKSUM);
    put_u16(data, place, if is_zero { u16::MAX } else { checksum })
}

/// Writes a word in the order of the network; `None` if it does not fit.
pub(crate) fn put_u16(data: &mut [u8], at: usize, value: u16) -> Option<()> {
    data.get_mut(at..at + 2)?.copy_from_slice(&value.to_be_bytes());
    Some(())
}

/// A word in the order of the network.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

/// The sum of 16-bit words, up to carries: [`fold`] of it is the one of RFC 1071, and 0 only for zeros.
pub fn sum(bytes: &[u8]) -> u64 {
    // In the order of the machine, which gives the same sum with its bytes swapped. RFC 1071 §2.
    let (words, rest) = bytes.as_chunks::<4>();
    let words = words.iter().map(|word| u64::from(u32::from_ne_bytes(*word)));
    // Nothing in memory overflows it; a check would keep it from being computed in parallel.
    let total = words.fold(0, u64::wrapping_add);
    let mut last = [0; 4];
    last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    let total = total.wrapping_add(u32::from_ne_bytes(last).into());
    u16::from_be(fold(total)).into()
}

/// With its carries added in.
pub const fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_words_in_the_order_of_the_network_whatever_the_length() {
        let bytes: Vec<u8> = (0..3_000_u32).map(|it| (it * 7 + it / 256) as u8).collect();
        for length in (0..70).chain([1_399, 1_400, 1_401, 3_000]) {
            let (words, rest) = bytes[..length].as_chunks::<2>();
            let last = rest.first().map_or(0, |byte| u64::from(*byte) << 8);
            let wanted = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum::<u64>() + last;
            assert_eq!(fold(sum(&bytes[..length])), fold(wanted), "{length}");
        }
        assert_eq!((fold(sum(&[0; 40])), fold(sum(&[0xff; 40]))), (0, 0xffff));
    }
}
