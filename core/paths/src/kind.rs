//! Kinds of path sets, made from the registry of algorithms: names, text, and dispatch.

use std::fmt;
use std::str::FromStr;

use crate::Properties;
pub use crate::algorithms::Kind;
use crate::algorithms::REGISTRY;

/// One line of the registry: an algorithm's properties, and its kind for a parameter.
pub(crate) struct Entry {
    pub(crate) properties: &'static Properties,
    pub(crate) kind: fn(u32) -> Kind,
}

/// Makes `Kind`, the memory of all algorithms, and the dispatch to them from lines `Kind(parameter)? => module: Type`.
macro_rules! registry {
    (@u32 $parameter:ident) => { u32 };
    ($($(#[$doc:meta])* $kind:ident $(($parameter:ident))? => $module:ident: $algorithm:ident,)*) => {
        /// The way a set of paths is chosen.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind $(($crate::kind::registry!(@u32 $parameter)))?,)*
        }

        /// Every algorithm with its memory.
        #[derive(Debug, Default)]
        pub(crate) struct Algorithms {
            $(pub(crate) $module: $module::$algorithm,)*
        }

        /// Every algorithm in the order in which users see them.
        pub(crate) const REGISTRY: &[$crate::kind::Entry] = &[
            $($crate::kind::Entry {
                properties: &<$module::$algorithm as $crate::algorithm::Algorithm>::PROPERTIES,
                kind: |_number| Kind::$kind $(({ let $parameter = _number; $parameter }))?,
            },)*
        ];

        impl Kind {
            /// The properties of the kind, for users, caches and queries.
            pub const fn properties(self) -> &'static $crate::Properties {
                match self {
                    $(Self::$kind { .. } => &<$module::$algorithm as $crate::algorithm::Algorithm>::PROPERTIES,)*
                }
            }

            /// The parameter of the kind, such as the number of hops.
            pub(crate) const fn parameter(self) -> u32 {
                match self {
                    $(Self::$kind $(($parameter))? => 0 $(+ $parameter)?,)*
                }
            }

            /// The greatest length of a new path that can change a set found before; `None` if a path of any length can.
            pub(crate) fn max_length_of_interest(self, found: &$crate::algorithm::FoundSet<'_>) -> Option<i64> {
                use $crate::algorithm::Algorithm;
                match self {
                    $(Self::$kind { .. } => $module::$algorithm::max_length_of_interest(found),)*
                }
            }
        }

        impl Algorithms {
            /// Solves a problem with the algorithm of its kind.
            pub(crate) fn solve(
                &mut self,
                kind: Kind,
                network: &mut $crate::network::Network,
                problem: $crate::algorithm::Problem,
            ) -> $crate::PathSet {
                use $crate::algorithm::Algorithm;
                match kind {
                    $(Kind::$kind { .. } => self.$module.solve(network, problem),)*
                }
            }

            /// The same among the paths that `bound` admits.
            pub(crate) fn solve_bounded(
                &mut self,
                kind: Kind,
                network: &mut $crate::network::Network,
                problem: $crate::algorithm::Problem,
                bound: &$crate::latency_bounded::LatencyBound,
            ) -> $crate::PathSet {
                use $crate::algorithm::Algorithm;
                match kind {
                    $(Kind::$kind { .. } => self.$module.solve_bounded(network, problem, bound),)*
                }
            }
        }
    };
}
pub(crate) use registry;

/// Text that is not a kind of path set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// No kind has this name.
    #[error("{0:?} is not one of {known}", known = Kind::list())]
    Unknown(String),
    /// A parameter that is not a number.
    #[error("{parameter} is a whole number, such as {name}:4")]
    Parameter {
        /// The name of the kind.
        name: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
    },
}

impl Kind {
    /// The properties of every kind, in the order in which users see them.
    pub fn catalog() -> impl Iterator<Item = &'static Properties> {
        REGISTRY.iter().map(|entry| entry.properties)
    }

    /// Every kind; those that take a number with this one.
    pub fn all(parameter: u32) -> impl Iterator<Item = Self> {
        REGISTRY.iter().map(move |entry| (entry.kind)(parameter))
    }

    /// Every kind as written, as a part of a sentence: `shortest, ksp, … or within:HOPS`.
    pub fn list() -> String {
        let mut names: Vec<_> = Self::catalog().map(Properties::syntax).collect();
        let last = names.pop().unwrap_or_default();
        format!("{} or {last}", names.join(", "))
    }
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        let named = REGISTRY.iter().find(|entry| entry.properties.name == name);
        let unknown = || KindError::Unknown(text.to_owned());
        let Entry { properties, kind } = named.ok_or_else(unknown)?;
        match (properties.parameter, number) {
            (None, None) => Ok(kind(0)),
            (Some(parameter), Some(number)) => {
                let refused = |_| KindError::Parameter { name: properties.name, parameter };
                number.parse().map(kind).map_err(refused)
            }
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Properties { name, parameter, .. } = self.properties();
        match parameter {
            Some(_) => write!(f, "{name}:{}", self.parameter()),
            None => f.write_str(name),
        }
    }
}
