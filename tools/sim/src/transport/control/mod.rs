//! Congestion controls by name, and their effect on a sender's window.

mod cubic;

use std::fmt;
use std::str::FromStr;

use braid_congestion::{Algorithm, Connection, Subflow, fixed};
use braid_types::{choice_schema, with_schema};
use cubic::Cubic;

use super::sender::Sender;
use crate::engine::Picos;

/// A congestion control by name: `cubic`, `reno`, or for MPTCP `lia`, `olia`, `balia`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// RFC 9438.
    Cubic,
    /// As the formulas of `braid-congestion` have it, in the integers that run in the kernel; uncoupled is NewReno.
    Coupled(Algorithm),
}

/// What a subflow needs to know of another of its connection.
pub(crate) type Kin = Subflow;

/// The congestion control of one subflow, with what it remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Governor {
    Cubic(Cubic),
    Coupled { algorithm: Algorithm, left_over: u32 },
}

impl Control {
    /// All of them, uncoupled as `reno`.
    pub const ALL: [Self; 5] = [
        Self::Cubic,
        Self::Coupled(Algorithm::Uncoupled),
        Self::Coupled(Algorithm::Lia),
        Self::Coupled(Algorithm::Olia),
        Self::Coupled(Algorithm::Balia),
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Coupled(Algorithm::Uncoupled) => "reno",
            Self::Coupled(algorithm) => algorithm.name(),
        }
    }

    pub(crate) fn governor(self) -> Governor {
        match self {
            Self::Cubic => Governor::Cubic(Cubic::default()),
            Self::Coupled(algorithm) => Governor::Coupled { algorithm, left_over: 0 },
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

with_schema!(Control, choice_schema(Control::ALL.map(Control::name)));

/// No congestion control has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no congestion control is called {0:?}: cubic, reno, lia, olia or balia")]
pub struct UnknownControl(String);

impl FromStr for Control {
    type Err = UnknownControl;

    fn from_str(name: &str) -> Result<Self, UnknownControl> {
        match name {
            "cubic" => Ok(Self::Cubic),
            "reno" => Ok(Self::Coupled(Algorithm::Uncoupled)),
            name => name.parse().map(Self::Coupled).map_err(|_| UnknownControl(name.to_owned())),
        }
    }
}

impl Sender {
    /// What the formulas of the others, or of this subflow, need to know of it.
    pub(crate) fn as_kin(&self) -> Kin {
        Kin { cwnd: self.cwnd, srtt: self.rtt.smoothed().duration(), run: self.run[0].max(self.run[1]) }
    }

    /// Opens the window for `arrived` segments, or goes on with recovery.
    pub(crate) fn grow(&mut self, now: Picos, arrived: u32, governor: &mut Governor, others: &[Kin]) {
        self.reduce(arrived);
        if !self.may_grow() {
            return;
        }
        let slow = arrived.min(self.ssthresh.saturating_sub(self.cwnd));
        self.cwnd += slow;
        if arrived > slow {
            let more = governor.avoid(now, self, arrived - slow, others);
            self.cwnd = self.cwnd.saturating_add_signed(more).max(1);
        }
    }

    /// The first loss after a time without: recovery begins.
    pub(crate) fn shrink(&mut self, governor: &mut Governor, others: &[Kin]) {
        let ssthresh = governor.after_loss(self, others);
        self.enter_recovery(ssthresh);
    }

    /// A probe has repaired the only loss.
    pub(crate) fn shrink_at_once(&mut self, governor: &mut Governor, others: &[Kin]) {
        let ssthresh = governor.after_loss(self, others);
        self.reduce_at_once(ssthresh);
    }

    /// The time-out passed.
    pub(crate) fn collapse(&mut self, governor: &mut Governor, others: &[Kin]) {
        let ssthresh = governor.after_loss(self, others);
        self.lose_all();
        self.timeouts += 1;
        self.rtt.back_off();
        self.enter_loss(ssthresh);
    }
}

impl Governor {
    /// Whether the window depends on those of other subflows.
    pub(crate) const fn is_coupled(&self) -> bool {
        !matches!(self, Self::Cubic(_) | Self::Coupled { algorithm: Algorithm::Uncoupled, .. })
    }

    /// By how much the window changes in congestion avoidance.
    fn avoid(&mut self, now: Picos, sender: &Sender, arrived: u32, others: &[Kin]) -> i32 {
        match self {
            Self::Cubic(cubic) => cubic.grow(now, sender.cwnd, sender.rtt.smoothed(), arrived),
            Self::Coupled { algorithm, left_over } => {
                let increase = fixed::increase(*algorithm, Connection { own: sender.as_kin(), others });
                let (more, rest) = fixed::grow(*left_over, increase, arrived);
                *left_over = rest;
                i32::try_from(more).unwrap_or(0)
            }
        }
    }

    fn after_loss(&mut self, sender: &Sender, others: &[Kin]) -> u32 {
        match self {
            Self::Cubic(cubic) => cubic.shrink(sender.cwnd),
            Self::Coupled { algorithm, .. } => {
                fixed::after_loss(*algorithm, Connection { own: sender.as_kin(), others })
            }
        }
    }
}
