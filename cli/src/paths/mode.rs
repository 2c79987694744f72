use std::ffi::OsStr;

use braid_paths::Kind;
use braid_paths::query::read_mode;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// What is written, and what shells complete to.
const NAMES: [&str; 6] = ["shortest", "ksp", "disjoint", "node-disjoint", "maxflow", "widest"];
/// Completed as far as shells can know it.
const WITHIN: &str = "within:";

/// Reads a kind of path set, and knows the kinds for help and completion.
#[derive(Clone)]
pub(crate) struct ModeParser;

impl TypedValueParser for ModeParser {
    type Value = Kind;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Kind, Error> {
        // The library's reader, so that there is one list of what is right.
        read_mode.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(NAMES.into_iter().chain([WITHIN]).map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_kind() {
        for name in NAMES {
            assert_eq!(name.parse().map(|kind: Kind| kind.to_string()), Ok(name.to_owned()));
        }
    }
}
