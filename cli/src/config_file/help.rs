//! Help of options as it is about keys of a file.

use clap::builder::PossibleValue;
use clap::{Arg, Command};

use super::setting::key_of;

/// An option's help and that of its values, with keys in place of the options that it names.
pub(super) fn help_in_keys(arg: &Arg, command: &Command) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values: String = arg.get_possible_values().iter().filter_map(choice).collect();
    in_keys(&(help + &values), command)
}

/// A value to choose, if there is something to say about it.
fn choice(value: &PossibleValue) -> Option<String> {
    (!value.is_hide_set()).then_some(())?;
    value.get_help().map(|help| format!("\n{}: {help}", value.get_name()))
}

fn in_keys(help: &str, command: &Command) -> String {
    let is_key = |option: &str| command.get_arguments().any(|arg| arg.get_long() == Some(option));
    let word = |word: &str| {
        let option = word.strip_prefix("--").unwrap_or_default();
        let end = option.find(|it: char| !it.is_ascii_alphanumeric() && it != '-').unwrap_or(option.len());
        let (option, rest) = option.split_at(end);
        if is_key(option) { key_of(option) + rest } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    help.replace("; may be repeated", "; a list").lines().map(line).collect::<Vec<_>>().join("\n")
}
