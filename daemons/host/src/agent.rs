//! The host agent: its modes, start, and restoration of the settings at the end.

use std::time::{Duration, Instant};
use std::{io, thread};

use braid_congestion::Algorithm;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::congestion::{CongestionError, Coupled};
use crate::kernel_mode::KernelMode;
use crate::managed::{Adviser, Input, Manager};
use crate::netlink::NetlinkError;
use crate::pm::{Endpoint, Limits};
use crate::receive_buffer;
use crate::sysctl::{self, Setting, SysctlError};
use crate::trials::{Observer, SuspendedEndpoints, Suspension};

/// How soon an agent ends that was told to, where the kernel is the path manager.
const SIGNAL_DELAY: Duration = Duration::from_millis(250);

/// The configuration of an agent.
#[derive(Default)]
pub struct Config {
    /// The path manager; `None` leaves the system's settings.
    pub mode: Option<Mode>,
    /// The coupled congestion control; `None` leaves the kernel's.
    pub congestion: Option<Algorithm>,
    /// Who is told of subflows that were tried; `None` suspends none.
    pub observer: Option<Observer>,
    /// The bytes that receive buffers start with at least; 0 leaves the system's setting.
    pub receive_buffer: u64,
}

/// The path manager: what opens subflows.
pub enum Mode {
    /// The kernel, with the same settings for every connection.
    Kernel {
        /// Its limits.
        limits: Limits,
        /// Addresses for subflows, or for announcements to peers.
        endpoints: Vec<Endpoint>,
    },
    /// The agent, by advice for each connection.
    Managed {
        /// Subflows of a connection in total, without advice.
        subflows: usize,
        /// The maximum of additional subflows of a connection, whatever the advice.
        most: usize,
        /// The source of advice.
        adviser: Option<Box<dyn Adviser>>,
    },
}

/// The agent, in the network namespace of the thread that starts it. The same thread has to run it.
#[derive(Debug)]
pub struct Agent {
    signals: Signals,
    manager: Option<(Manager, std::sync::mpsc::Sender<Input>)>,
    congestion: Option<(Algorithm, Coupled)>,
    endpoints: Option<(Suspension, SuspendedEndpoints)>,
    // Fields are dropped in order: the first setting is restored last.
    _kernel: Option<KernelMode>,
    _path_manager: Option<Setting>,
    _receive_buffer: Option<Setting>,
}

/// Errors of the agent.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The congestion control is unavailable.
    #[error(transparent)]
    Congestion(#[from] CongestionError),
    /// The kernel's path managers are unavailable.
    #[error(transparent)]
    Kernel(#[from] NetlinkError),
    /// The path manager cannot be selected.
    #[error(transparent)]
    Setting(#[from] SysctlError),
    /// Signals cannot be waited for.
    #[error("cannot wait for signals")]
    Signals(#[source] io::Error),
}

impl AgentError {
    /// Whether the machine lacks a feature.
    #[must_use]
    pub const fn is_missing_feature(&self) -> bool {
        match self {
            Self::Congestion(error) => error.is_missing_feature(),
            Self::Kernel(error) => matches!(error, NetlinkError::NoFamily(_)),
            _ => false,
        }
    }
}

impl Agent {
    /// Applies the configuration.
    ///
    /// # Errors
    ///
    /// A setting cannot be applied; then none is.
    pub fn start(config: Config) -> Result<Self, AgentError> {
        let signals = Signals::new([SIGINT, SIGTERM]).map_err(AgentError::Signals)?;
        let (mut manager, mut kernel, mut path_manager, mut suspended) = (None, None, None, None);
        match config.mode {
            Some(Mode::Kernel { limits, endpoints }) => {
                kernel = Some(KernelMode::set(limits, &endpoints)?);
                let open = |observer| {
                    Ok::<_, NetlinkError>((Suspension::open(observer)?, SuspendedEndpoints::open()?))
                };
                suspended = config.observer.map(open).transpose()?;
            }
            Some(Mode::Managed { subflows, most, adviser }) => {
                // It listens for events before the first connection that it manages.
                manager = Some(Manager::start(most, subflows, adviser, config.observer)?);
                path_manager = Some(choose_user_space()?);
            }
            None => {}
        }
        let start = |algorithm| Ok::<_, CongestionError>((algorithm, Coupled::start(algorithm)?));
        let congestion = config.congestion.map(start).transpose()?;
        Ok(Self {
            signals,
            manager,
            congestion,
            endpoints: suspended,
            _kernel: kernel,
            _path_manager: path_manager,
            _receive_buffer: receive_buffer::raise(config.receive_buffer),
        })
    }

    /// The congestion control that the agent has loaded.
    #[must_use]
    pub fn congestion(&self) -> Option<Algorithm> {
        self.congestion.as_ref().map(|(algorithm, _)| *algorithm)
    }

    /// The handle that stops the agent, if it manages connections.
    #[must_use]
    pub fn stopper(&self) -> Option<std::sync::mpsc::Sender<Input>> {
        self.manager.as_ref().map(|(_, input)| input.clone())
    }

    /// Runs until SIGTERM or SIGINT, and restores the settings. Subflows stay open. Calls `on_turn` at least every second.
    ///
    /// # Errors
    ///
    /// The kernel no longer reports events of connections.
    pub fn run_until_signalled(mut self, on_turn: &mut dyn FnMut()) -> Result<(), AgentError> {
        let Some((mut manager, input)) = self.manager.take() else {
            self.watch_until_signalled(on_turn);
            return Ok(());
        };
        let mut signals = self.signals;
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                // The agent may have ended by itself.
                let _ = input.send(Input::Stop);
            }
        });
        Ok(manager.run(on_turn)?)
    }

    fn watch_until_signalled(&mut self, on_turn: &mut dyn FnMut()) {
        let Some((suspension, endpoints)) = &mut self.endpoints else {
            while self.signals.pending().next().is_none() {
                on_turn();
                thread::sleep(SIGNAL_DELAY);
            }
            return;
        };
        while self.signals.pending().next().is_none() {
            on_turn();
            suspension.act(|order| endpoints.carry_out(order));
            match endpoints.resume_shared() {
                Ok(shared) => shared.into_iter().for_each(|order| suspension.handle_refusal(order)),
                Err(error) => tracing::warn!(%error, "cannot resume an endpoint"),
            }
            thread::sleep(suspension.due().saturating_duration_since(Instant::now()).min(SIGNAL_DELAY));
        }
        suspension.end(|order| endpoints.carry_out(order));
    }
}

/// The setting by name, of Linux 6.15 and later; earlier versions have a number.
fn choose_user_space() -> Result<Setting, SysctlError> {
    const NAMED_SETTING: &str = "net.mptcp.path_manager";
    match sysctl::read(NAMED_SETTING) {
        Ok(_) => Setting::change(NAMED_SETTING, "userspace"),
        Err(_) => Setting::change("net.mptcp.pm_type", "1"),
    }
}
