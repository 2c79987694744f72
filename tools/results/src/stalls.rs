//! How long the machine stood still at a time: by how much a thread that sleeps for a moment is woken too late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::setpriority_process;

const SLEEP: Duration = Duration::from_millis(5);
/// Before all others, so that what the run itself takes of the processors is no stall.
const FIRST: i32 = -20;

/// A watch for stalls while a run goes on.
#[derive(Debug)]
pub(crate) struct StallWatch {
    stop: Arc<AtomicBool>,
    longest: JoinHandle<Duration>,
}

impl StallWatch {
    pub(crate) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&stop);
        Self { stop, longest: thread::spawn(move || longest(&watched)) }
    }

    /// Ends; the longest stall since the start. `None` if the watch failed.
    pub(crate) fn finish(self) -> Option<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        self.longest.join().ok()
    }
}

fn longest(stop: &AtomicBool) -> Duration {
    // Counts for this thread alone. Only root may; others see stalls of the run's own making, too.
    let _ = setpriority_process(None, FIRST);
    let mut longest = Duration::ZERO;
    while !stop.load(Ordering::Relaxed) {
        let asleep = Instant::now();
        thread::sleep(SLEEP);
        longest = longest.max(asleep.elapsed().saturating_sub(SLEEP));
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_ends_when_it_is_told_to() {
        let watch = StallWatch::start();
        thread::sleep(SLEEP * 3);
        assert!(watch.finish().is_some());
    }
}
