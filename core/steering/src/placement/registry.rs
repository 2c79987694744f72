//! The registry of placement policies: names, text, and a new policy of each.

use std::fmt;
use std::str::FromStr;

use super::{PlacementPolicy, Policy};

/// What the registry has of a policy. A new one starts without previous choices.
pub(super) trait Registered: PlacementPolicy + Default + 'static {
    /// Its name in commands and files.
    const NAME: &'static str;
    /// What it chooses, for help texts.
    const SUMMARY: &'static str;
    /// Whether only streams between the same two addresses count as siblings.
    const IS_BY_ADDRESS_PAIR: bool = false;
}

/// Makes `Policy` from lines `Policy => module`; the module has a type of the same name.
macro_rules! registry {
    ($($(#[$attribute:meta])* $policy:ident => $module:ident,)*) => {
        /// The placement policies, by name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
        pub enum Policy {
            $($(#[$attribute])* $policy,)*
        }

        impl Policy {
            /// All of them, in the order in which users see them.
            pub const ALL: [Self; [$(stringify!($policy)),*].len()] = [$(Self::$policy),*];

            /// A new policy, without previous choices.
            pub fn placement(self) -> Box<dyn PlacementPolicy> {
                match self {
                    $(Self::$policy => Box::new($module::$policy::default()),)*
                }
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$policy => <$module::$policy as registry::Registered>::NAME,)*
                }
            }

            /// What it chooses.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$policy => <$module::$policy as registry::Registered>::SUMMARY,)*
                }
            }

            /// Whether only streams between the same two addresses count as siblings.
            pub const fn is_by_address_pair(self) -> bool {
                match self {
                    $(Self::$policy => <$module::$policy as registry::Registered>::IS_BY_ADDRESS_PAIR,)*
                }
            }
        }
    };
}
pub(super) use registry;

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Text that names no policy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not one of {known}", known = Policy::ALL.map(Policy::name).join(", "))]
pub struct PolicyError(String);

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::ALL.into_iter().find(|policy| policy.name() == text).ok_or_else(|| PolicyError(text.to_owned()))
    }
}
