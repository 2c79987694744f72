//! The JSON schema of a daemon's file: a property for each option of its command, as its parser takes it.

use std::any::TypeId;

use braid_types::BitsPerSec;
use clap::{Arg, ArgAction, Command};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::help::help_in_keys;
use super::setting::{checker, key_of};

/// The schema for the command with this name, such as `["controller", "run"]`.
pub(crate) fn schema(root: &Command, names: [&str; 2]) -> Schema {
    let command = names.iter().try_fold(root, |command, name| command.find_subcommand(name));
    let command = checker(command.unwrap_or(root));
    let property = |arg: &Arg| Some((key_of(arg.get_long()?), property(arg, &command).to_value()));
    let properties: Map<String, Value> = command.get_arguments().filter_map(property).collect();
    json_schema!({
        "$schema": schemars::consts::meta_schemas::DRAFT2020_12,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(arg: &Arg, command: &Command) -> Schema {
    let mut schema = match arg.get_action() {
        ArgAction::SetTrue => json_schema!({ "type": "boolean" }),
        ArgAction::Append => {
            let one = value(arg);
            json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
        _ => value(arg),
    };
    schema.insert("description".to_owned(), help_in_keys(arg, command).into());
    schema
}

/// What one value of an option may be.
fn value(arg: &Arg) -> Schema {
    let choices = arg.get_possible_values();
    let choices: Vec<_> =
        choices.iter().filter(|it| !it.is_hide_set()).map(clap::builder::PossibleValue::get_name).collect();
    if !choices.is_empty() {
        return json_schema!({ "type": "string", "enum": choices });
    }
    let of = arg.get_value_parser().type_id();
    if INTEGERS.iter().any(|it| of == it()) {
        return integer(arg);
    }
    if of == TypeId::of::<BitsPerSec>() {
        return BitsPerSec::json_schema(&mut SchemaGenerator::default());
    }
    match is_number(arg) || of == TypeId::of::<f64>() {
        true => json_schema!({ "type": ["number", "string"] }),
        false => json_schema!({ "type": "string" }),
    }
}

const INTEGERS: [fn() -> TypeId; 10] = [
    TypeId::of::<u8>,
    TypeId::of::<u16>,
    TypeId::of::<u32>,
    TypeId::of::<u64>,
    TypeId::of::<usize>,
    TypeId::of::<i8>,
    TypeId::of::<i16>,
    TypeId::of::<i32>,
    TypeId::of::<i64>,
    TypeId::of::<isize>,
];

/// Whether the default is written as a number.
pub(super) fn is_number(arg: &Arg) -> bool {
    let default = arg.get_default_values().first().map(|it| it.to_string_lossy());
    // A datapath id has digits only, too.
    default.is_some_and(|text| text.parse::<f64>().is_ok() && !text.starts_with("00"))
}

/// An integer with the bounds of its parser. clap does not tell them, so that they are searched for.
fn integer(arg: &Arg) -> Schema {
    let option = arg.get_long().unwrap_or_default();
    let parser = Command::new("key").no_binary_name(true).disable_help_flag(true).arg(arg.clone());
    let accepts = |number: i64| parser.clone().try_get_matches_from([format!("--{option}={number}")]).is_ok();
    let default = arg.get_default_values().first().and_then(|it| it.to_str()?.parse().ok());
    let Some(inside) = default.into_iter().chain([1, 0, 10, 100, 1_000, 10_000]).find(|it| accepts(*it))
    else {
        return json_schema!({ "type": "integer" });
    };
    let mut schema = json_schema!({ "type": "integer" });
    for (bound, end) in [("minimum", i64::MIN), ("maximum", i64::MAX)] {
        let last = last_accepted(inside, end, &accepts);
        if last != end {
            schema.insert(bound.to_owned(), last.into());
        }
    }
    schema
}

/// The last number that is accepted on the way from one that is, all up to it being accepted.
fn last_accepted(inside: i64, end: i64, accepts: &impl Fn(i64) -> bool) -> i64 {
    if accepts(end) {
        return end;
    }
    let (mut good, mut bad) = (i128::from(inside), i128::from(end));
    while (bad - good).abs() > 1 {
        let middle = i128::midpoint(good, bad);
        // Between two numbers of 64 bits.
        if accepts(middle as i64) { good = middle } else { bad = middle }
    }
    good as i64
}
