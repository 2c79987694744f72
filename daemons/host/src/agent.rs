use std::io;

use braid_congestion::Algorithm;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::congestion::{CongestionError, Coupled};

/// What the agent shall do.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// How windows of subflows are coupled; as the kernel does it, if it is not said.
    pub congestion: Option<Algorithm>,
}

/// The agent in the network namespace of the thread that starts it.
#[derive(Debug)]
pub struct Agent {
    signals: Signals,
    congestion: Option<(Algorithm, Coupled)>,
}

/// Why the agent does not run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The congestion control cannot be had.
    #[error(transparent)]
    Congestion(#[from] CongestionError),
    /// Signals cannot be waited for.
    #[error("cannot wait for signals")]
    Signals(#[source] io::Error),
}

impl Agent {
    /// Sets what there is to set.
    ///
    /// # Errors
    ///
    /// Something cannot be set; then nothing is.
    pub fn start(config: Config) -> Result<Self, AgentError> {
        let signals = Signals::new([SIGINT, SIGTERM]).map_err(AgentError::Signals)?;
        let start = |algorithm| Ok::<_, CongestionError>((algorithm, Coupled::start(algorithm)?));
        let congestion = config.congestion.map(start).transpose()?;
        Ok(Self { signals, congestion })
    }

    /// The algorithm of the congestion control that it has loaded.
    #[must_use]
    pub fn congestion(&self) -> Option<Algorithm> {
        self.congestion.as_ref().map(|(algorithm, _)| *algorithm)
    }

    /// Runs until SIGTERM or SIGINT, and puts back what it has set.
    ///
    /// # Errors
    ///
    /// None yet.
    pub fn run_until_signalled(mut self) -> Result<(), AgentError> {
        self.signals.forever().next();
        Ok(())
    }
}
