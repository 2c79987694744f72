//! The coupled congestion controls in the kernel, as BPF programs.
//!
//! They are written in C, in `bpf/`, with the formulas of `braid_congestion::fixed`. [`Coupled`] registers one for its
//! lifetime. A connection that uses it keeps it to its end.

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

/// A coupled congestion control as the network namespace's default, until this value is dropped.
///
/// New and accepted MPTCP connections use it; plain TCP keeps its congestion control.
#[derive(Debug)]
pub struct Coupled {
    _default: Setting,
    _registration: Option<Registration>,
}

impl Coupled {
    /// Loads `algorithm`, unless another agent on this machine has, and makes it the default of the thread's namespace.
    ///
    /// # Errors
    ///
    /// A feature is missing, or the kernel refuses.
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

/// Its name in the kernel and in `setsockopt(TCP_CONGESTION)`.
#[must_use]
pub fn kernel_name(algorithm: Algorithm) -> String {
    format!("{PREFIX}{algorithm}")
}

fn register(algorithm: Algorithm, plain: Option<&str>) -> Result<Option<Registration>, CongestionError> {
    if is_registered(algorithm) {
        // Names are shared by the whole machine.
        tracing::info!(%algorithm, "another agent has loaded the congestion control, which is shared");
        return Ok(None);
    }
    match Registration::load(algorithm, plain) {
        // Another agent registered it at the same time.
        Err(_) if is_registered(algorithm) => Ok(None),
        registration => registration.map(Some),
    }
}

/// Whether the congestion control is registered.
#[must_use]
pub fn is_registered(algorithm: Algorithm) -> bool {
    let available = sysctl::read("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    available.split_whitespace().any(|name| name == kernel_name(algorithm))
}
