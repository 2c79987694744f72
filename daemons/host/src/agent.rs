//! The host agent: its modes, start, and restoration of the settings at the end.

use std::{io, thread};

use braid_congestion::Algorithm;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::congestion::{CongestionError, Coupled};
use crate::kernel_mode::KernelMode;
use crate::managed::{Adviser, Input, Manager};
use crate::netlink::NetlinkError;
use crate::pm::{Endpoint, Limits};
use crate::sysctl::{self, Setting, SysctlError};

/// What the agent shall do.
#[derive(Default)]
pub struct Config {
    /// Who opens subflows; nothing changes if it is not said.
    pub mode: Option<Mode>,
    /// How windows of subflows are coupled; as the kernel does it, if it is not said.
    pub congestion: Option<Algorithm>,
}

/// Who opens subflows.
pub enum Mode {
    /// The path manager in the kernel, the same for every connection.
    Kernel {
        /// Its limits.
        limits: Limits,
        /// What it opens subflows from, or tells peers of.
        endpoints: Vec<Endpoint>,
    },
    /// The agent, each connection as advised.
    Managed {
        /// How many subflows a connection has in all where nobody advises.
        subflows: usize,
        /// How many it has at most beside its first, whatever is advised.
        most: usize,
        /// Who advises.
        adviser: Option<Box<dyn Adviser>>,
    },
}

/// The agent in the network namespace of the thread that starts it, which has to be the one that runs it, too.
#[derive(Debug)]
pub struct Agent {
    signals: Signals,
    manager: Option<(Manager, std::sync::mpsc::Sender<Input>)>,
    congestion: Option<(Algorithm, Coupled)>,
    // What is dropped last was set first.
    _kernel: Option<KernelMode>,
    _path_manager: Option<Setting>,
}

/// Why the agent does not run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The congestion control cannot be had.
    #[error(transparent)]
    Congestion(#[from] CongestionError),
    /// The kernel's path managers cannot be had.
    #[error(transparent)]
    Kernel(#[from] NetlinkError),
    /// The path manager cannot be chosen.
    #[error(transparent)]
    Setting(#[from] SysctlError),
    /// Signals cannot be waited for.
    #[error("cannot wait for signals")]
    Signals(#[source] io::Error),
}

impl AgentError {
    /// Whether it is the machine that lacks a feature.
    #[must_use]
    pub const fn is_lack(&self) -> bool {
        match self {
            Self::Congestion(error) => error.is_lack(),
            Self::Kernel(error) => matches!(error, NetlinkError::NoFamily(_)),
            _ => false,
        }
    }
}

impl Agent {
    /// Sets what there is to set.
    ///
    /// # Errors
    ///
    /// Something cannot be set; then nothing is.
    pub fn start(config: Config) -> Result<Self, AgentError> {
        let signals = Signals::new([SIGINT, SIGTERM]).map_err(AgentError::Signals)?;
        let (mut manager, mut kernel, mut path_manager) = (None, None, None);
        match config.mode {
            Some(Mode::Kernel { limits, endpoints }) => kernel = Some(KernelMode::set(limits, &endpoints)?),
            Some(Mode::Managed { subflows, most, adviser }) => {
                // It listens before the first connection that is its own.
                manager = Some(Manager::start(most, subflows, adviser)?);
                path_manager = Some(choose_user_space()?);
            }
            None => {}
        }
        let start = |algorithm| Ok::<_, CongestionError>((algorithm, Coupled::start(algorithm)?));
        let congestion = config.congestion.map(start).transpose()?;
        Ok(Self { signals, manager, congestion, _kernel: kernel, _path_manager: path_manager })
    }

    /// The algorithm of the congestion control that it has loaded.
    #[must_use]
    pub fn congestion(&self) -> Option<Algorithm> {
        self.congestion.as_ref().map(|(algorithm, _)| *algorithm)
    }

    /// What it can be stopped by, if it manages connections.
    #[must_use]
    pub fn stopper(&self) -> Option<std::sync::mpsc::Sender<Input>> {
        self.manager.as_ref().map(|(_, input)| input.clone())
    }

    /// Runs until SIGTERM or SIGINT, and puts back what it has set. Subflows stay.
    ///
    /// # Errors
    ///
    /// The kernel says no more what happens to connections.
    pub fn run_until_signalled(mut self) -> Result<(), AgentError> {
        let Some((mut manager, input)) = self.manager.take() else {
            self.signals.forever().next();
            return Ok(());
        };
        let mut signals = self.signals;
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                // It may have ended by itself.
                let _ = input.send(Input::Stop);
            }
        });
        Ok(manager.run()?)
    }
}

/// Linux 6.15 and later have a name for it, those before a number.
fn choose_user_space() -> Result<Setting, SysctlError> {
    const NAMED: &str = "net.mptcp.path_manager";
    match sysctl::read(NAMED) {
        Ok(_) => Setting::change(NAMED, "userspace"),
        Err(_) => Setting::change("net.mptcp.pm_type", "1"),
    }
}
