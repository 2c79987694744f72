//! The command-line parser of path set kinds, with help and completion.

use std::ffi::OsStr;

use braid_paths::Kind;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// The parser of path set kinds, with the list of kinds for help and completion.
#[derive(Clone)]
pub(crate) struct ModeParser;

impl TypedValueParser for ModeParser {
    type Value = Kind;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Kind, Error> {
        (|text: &str| text.parse::<Kind>()).parse_ref(command, arg, value)
    }

    // Shells complete `within:` without the number.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Kind::names().chain([Kind::WITHIN]).map(PossibleValue::new)))
    }
}
