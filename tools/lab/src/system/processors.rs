//! The time that the machine's processors were busy.

use std::fs;
use std::time::Duration;

use crate::error::LabError;

/// USER_HZ, in which /proc counts on all architectures of Linux.
const TICKS_PER_SECOND: u64 = 100;

/// Since boot, of all processors together; what the host of a virtual machine took is not theirs.
pub(crate) fn busy() -> Result<Duration, LabError> {
    let path = "/proc/stat";
    let text = fs::read_to_string(path).map_err(|error| LabError::io(path, error))?;
    Ok(Duration::from_millis(busy_ticks(&text).saturating_mul(1_000 / TICKS_PER_SECOND)))
}

/// `user`, `nice`, `system`, `irq` and `softirq` of the first line (`proc_stat(5)`).
fn busy_ticks(text: &str) -> u64 {
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().skip(1).map(|it| it.parse().unwrap_or(0)).collect();
    [0, 1, 2, 5, 6].iter().filter_map(|place| ticks.get(*place)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_waiting_and_the_host_s_share_are_not_counted() {
        assert_eq!(busy_ticks("cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1\n"), 7_600_321);
        assert_eq!((busy_ticks(""), busy_ticks("cpu x")), (0, 0));
        assert!(busy().is_ok_and(|it| it > Duration::ZERO));
    }
}
