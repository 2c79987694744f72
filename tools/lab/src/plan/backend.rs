//! The back-end of a link (token bucket, netem or user space), chosen by its parameters.

use std::fmt;

use braid_link_model::Parameters;
use serde::{Deserialize, Serialize};

use crate::scenario::Link;

/// The back-end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBackend {
    /// The kernel's token bucket: rate and queue.
    Tbf,
    /// The kernel's netem before a token bucket: delay, loss and reordering as well.
    Netem,
    /// Braid's link emulator in user space: all properties.
    UserSpace,
}

impl LinkBackend {
    /// The back-end for `link`; `netem` returns whether the kernel has netem, and is called only if that matters.
    pub(crate) fn of(link: &Link, netem: impl FnOnce() -> bool) -> Self {
        // netem reorders frames when there is jitter.
        let jitter = link.directions.iter().any(|direction| !direction.jitter.duration().is_zero());
        match link.emulated {
            false => Self::Tbf,
            // What the kernel's shapers delay is charged to the socket that sends it, unlike what a line delays.
            true if link.line => Self::UserSpace,
            true if !jitter && netem() => Self::Netem,
            true => Self::UserSpace,
        }
    }

    /// The back-end in the kernel for such a link, if there is one: the process of links in user space takes no new ones.
    pub(crate) fn in_kernel(direction: &Parameters, netem: impl FnOnce() -> bool) -> Option<Self> {
        let Parameters { rate, queue, .. } = *direction;
        let is_shaped_only = *direction == Parameters { rate, queue, ..Parameters::default() };
        if is_shaped_only {
            return Some(Self::Tbf);
        }
        (direction.jitter.duration().is_zero() && netem()).then_some(Self::Netem)
    }
}

impl fmt::Display for LinkBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tbf => "tbf",
            Self::Netem => "netem",
            Self::UserSpace => "user-space",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_process_has_no_back_end_in_the_kernel() {
        let parameters = |text: &str| serde_json::from_str::<Parameters>(text).unwrap();
        let of = |text, netem| LinkBackend::in_kernel(&parameters(text), || netem);
        assert_eq!(of(r#"{"rate":"1Mbit","queue":"9 packets"}"#, false), Some(LinkBackend::Tbf));
        assert_eq!(of(r#"{"rate":"1Mbit","delay":"2ms"}"#, true), Some(LinkBackend::Netem));
        assert_eq!(of(r#"{"rate":"1Mbit","delay":"2ms"}"#, false), None);
        assert_eq!(of(r#"{"rate":"1Mbit","delay":"2ms","jitter":"1ms"}"#, true), None);
    }
}
