//! The command-line parser of path set kinds, with help and completion.

use std::ffi::OsStr;

use braid_paths::{Kind, Properties};
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

    // Shells complete a kind with a number, such as `within:`, without the number.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Kind::catalog().map(possible_value)))
    }
}

fn possible_value(properties: &Properties) -> PossibleValue {
    let name =
        properties.parameter.map_or_else(|| properties.name.to_owned(), |_| format!("{}:", properties.name));
    PossibleValue::new(name).help(properties.summary)
}
