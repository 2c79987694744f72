//! The coupled congestion controls in the kernel: BPF programs in the place of TCP's own.
//!
//! They are C, in `bpf/`; the formulas they compute are those of `braid_congestion::fixed`. [`Coupled`] registers one
//! for as long as it lives. A connection that uses it keeps it to its end.

#[cfg(not(feature = "bpf"))]
mod absent;
mod error;
#[cfg(feature = "bpf")]
mod loaded;

use braid_congestion::Algorithm;
pub use error::CongestionError;

#[cfg(not(feature = "bpf"))]
use absent::Registration;
#[cfg(feature = "bpf")]
use loaded::Registration;

use crate::sysctl::{self, Setting};

const DEFAULT: &str = "net.ipv4.tcp_congestion_control";

/// A coupled congestion control that is the network namespace's default, until this is dropped.
///
/// New MPTCP connections have it, and those accepted; plain TCP has what it had before.
#[derive(Debug)]
pub struct Coupled {
    _default: Setting,
    _registration: Option<Registration>,
}

impl Coupled {
    /// Loads `algorithm` unless another agent on this machine has, and makes it the default of the thread's namespace.
    ///
    /// # Errors
    ///
    /// What is lacking, or what the kernel refuses.
    pub fn start(algorithm: Algorithm) -> Result<Self, CongestionError> {
        let former =
            sysctl::read(DEFAULT).map_err(|_| CongestionError::lacks("TCP", "a kernel with IPv4"))?;
        let plain = Some(former).filter(|former| !former.starts_with(PREFIX));
        let registration = register(algorithm, plain.as_deref())?;
        let default = Setting::change(DEFAULT, &kernel_name(algorithm))?;
        Ok(Self { _default: default, _registration: registration })
    }
}

const PREFIX: &str = "braid_";

/// What the kernel calls it, and `setsockopt(TCP_CONGESTION)`.
#[must_use]
pub fn kernel_name(algorithm: Algorithm) -> String {
    format!("{PREFIX}{algorithm}")
}

fn register(algorithm: Algorithm, plain: Option<&str>) -> Result<Option<Registration>, CongestionError> {
    if is_registered(algorithm) {
        // Names are the whole machine's.
        tracing::info!(%algorithm, "another agent has loaded the congestion control, which is shared");
        return Ok(None);
    }
    match Registration::load(algorithm, plain) {
        // Another agent that began at the same time was first.
        Err(_) if is_registered(algorithm) => Ok(None),
        registration => registration.map(Some),
    }
}

/// Whether connections can ask for it.
#[must_use]
pub fn is_registered(algorithm: Algorithm) -> bool {
    let available = sysctl::read("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    available.split_whitespace().any(|name| name == kernel_name(algorithm))
}
