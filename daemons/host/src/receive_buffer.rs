//! The size that receive buffers start with, raised for as long as the agent runs.

use crate::sysctl::{self, Setting};

/// Smallest, first and largest size in bytes of a TCP connection's receive buffer.
const SIZES: &str = "net.ipv4.tcp_rmem";

/// Has connections that begin from now on start with a receive buffer of at least `bytes`, where the kernel's maximum allows as
/// much. Linux raises the size of a buffer only while its connection is read, and a connection of MPTCP whose buffer is full of
/// data behind a gap is never read again: what would fill the gap stays in the queues of its subflows. So its buffer has to hold
/// from the start what the other paths deliver until one path has repeated what it lost.
///
/// The agent serves without it too: a setting that the kernel refuses, as in many containers, is a warning.
pub(crate) fn raise(bytes: u64) -> Option<Setting> {
    let now = sysctl::read(SIZES).unwrap_or_default();
    let setting = Setting::change(SIZES, &raised(&now, bytes)?);
    setting.inspect_err(|error| tracing::warn!(%error, "receive buffers start as before")).ok()
}

// `None` if they start with as much already.
fn raised(now: &str, bytes: u64) -> Option<String> {
    let sizes: Vec<u64> = now.split_whitespace().filter_map(|size| size.parse().ok()).collect();
    let &[smallest, first, largest] = sizes.as_slice() else { return None };
    let wanted = bytes.min(largest);
    (wanted > first).then(|| format!("{smallest} {wanted} {largest}"))
}

#[cfg(test)]
mod tests {
    use super::raised;

    #[test]
    fn only_the_first_size_is_raised_up_to_the_largest() {
        let now = "4096\t131072\t6291456";
        assert_eq!(raised(now, 4_194_304).as_deref(), Some("4096 4194304 6291456"));
        assert_eq!(raised(now, 16_000_000).as_deref(), Some("4096 6291456 6291456"));
        assert_eq!(raised(now, 131_072), None);
        assert_eq!(raised(now, 0), None);
        assert_eq!(raised("", 4_194_304), None);
    }
}
