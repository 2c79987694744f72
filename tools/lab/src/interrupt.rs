//! Interruption by signals, polled by all waiting code.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::LabError;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The user's request to stop, shared by all clones.
///
/// All operations of a lab check it at least every 20 ms, and clean up when it is set.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Sets it at SIGINT, SIGTERM and SIGHUP, which then do not end the process.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`] if a handler cannot be installed.
    pub fn on_signals() -> Result<Self, LabError> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))
                .map_err(|error| LabError::io("installing a signal handler", error))?;
        }
        Ok(interrupt)
    }

    /// Requests the stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// # Errors
    ///
    /// [`LabError::Interrupted`] after a request to stop.
    pub fn check(&self) -> Result<(), LabError> {
        if self.0.load(Ordering::SeqCst) { Err(LabError::Interrupted) } else { Ok(()) }
    }

    /// Calls `ready` every 20 ms. Returns its first result, or `None` after `limit`.
    pub(crate) fn poll<T>(
        &self,
        limit: Duration,
        mut ready: impl FnMut() -> Result<Option<T>, LabError>,
    ) -> Result<Option<T>, LabError> {
        let start = Instant::now();
        loop {
            self.check()?;
            let answer = ready()?;
            if answer.is_some() || start.elapsed() >= limit {
                return Ok(answer);
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_interrupt_ends_every_clone_s_wait() {
        let interrupt = Interrupt::default();
        interrupt.clone().raise();
        let waited = interrupt.poll(Duration::from_secs(3_600), || Ok(None::<()>));
        assert!(matches!(waited, Err(LabError::Interrupted)));
    }

    #[test]
    fn a_wait_that_runs_out_has_no_answer() {
        let waited = Interrupt::default().poll(Duration::ZERO, || Ok(None::<()>));
        assert!(matches!(waited, Ok(None)));
    }
}
