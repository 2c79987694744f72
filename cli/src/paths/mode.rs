use std::ffi::OsStr;

use braid_paths::Kind;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// What is written, and what shells complete to.
const NAMES: [&str; 6] = ["shortest", "ksp", "disjoint", "node-disjoint", "maxflow", "widest"];
const WITHIN: &str = "within:HOPS";

/// Reads a kind of path set, and knows the kinds for help and completion.
#[derive(Clone)]
pub(crate) struct ModeParser;

impl TypedValueParser for ModeParser {
    type Value = Kind;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Kind, Error> {
        // The type's own reader, so that there is one list of what is right.
        (|text: &str| text.parse::<Kind>()).parse_ref(command, arg, value)
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
