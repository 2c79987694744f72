//! The congestion controls by name, each with its window increase and its window after a loss.

use std::fmt;
use std::str::FromStr;

use crate::{Connection, balia, lia, olia};

/// The coupling of the windows of a connection's subflows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Algorithm {
    /// No coupling: each window grows and shrinks as that of TCP. RFC 5681.
    Uncoupled,
    /// Linked increases. RFC 6356.
    Lia,
    /// Opportunistic linked increases: LIA without its flappiness, and Pareto-optimal.
    Olia,
    /// Balanced linked adaptation: between LIA's friendliness and OLIA's slowness to respond.
    Balia,
}

/// The name of an unknown algorithm.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no congestion control is called {0:?}: lia, olia, balia or uncoupled")]
pub struct UnknownAlgorithm(pub String);

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Uncoupled, Self::Lia, Self::Olia, Self::Balia];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uncoupled => "uncoupled",
            Self::Lia => "lia",
            Self::Olia => "olia",
            Self::Balia => "balia",
        }
    }

    /// Segments by which the own window grows for each segment acknowledged, in congestion avoidance.
    ///
    /// OLIA's may be negative. A subflow without a round-trip time grows as if it were alone.
    #[must_use]
    pub fn increase(self, connection: Connection<'_>) -> f64 {
        let alone = 1.0 / connection.own.window();
        if !connection.own.is_measured() {
            return alone;
        }
        match self {
            Self::Uncoupled => alone,
            Self::Lia => lia::increase(connection).min(alone),
            Self::Olia => olia::increase(connection),
            Self::Balia => balia::increase(connection),
        }
    }

    /// The own window after a loss, in segments; TCP then takes care that it is not below two.
    #[must_use]
    pub fn after_loss(self, connection: Connection<'_>) -> f64 {
        let window = connection.own.window();
        match self {
            Self::Balia if connection.own.is_measured() => balia::after_loss(connection),
            _ => window / 2.0,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        found.ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}
