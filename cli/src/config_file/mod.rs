//! Options of a daemon from a file: `--config FILE` in TOML, with a key for each option.
//!
//! The keys become arguments behind those of the command line, so that clap checks both alike. What the command line or the
//! environment gives is not taken from the file.

mod help;
mod problem;
mod schema;
mod setting;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

pub(crate) use problem::ConfigFileError;
pub(crate) use schema::schema;
pub(crate) use setting::Setting;

/// The option that names the file.
const CONFIG: &str = "config";
const OPTION: &str = "--config";

/// A command line, with what a file adds to it.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// All arguments.
    pub(crate) all: Vec<OsString>,
    /// The file that some of them come from.
    pub(crate) file: Option<PathBuf>,
}

/// The arguments, and those of the file that `--config` names among them.
///
/// # Errors
///
/// The file cannot be read, or it has mistakes: all of them.
pub(crate) fn expand(root: &Command, mut all: Vec<OsString>) -> Result<Arguments, ConfigFileError> {
    let may_name_one = |argument: &OsString| argument.to_string_lossy().starts_with(OPTION);
    if !all.iter().any(may_name_one) {
        return Ok(Arguments { all, file: None });
    }
    let Some((command, given)) = chosen(root, &all) else { return Ok(Arguments { all, file: None }) };
    let Some(file) = given.get_one::<PathBuf>(CONFIG).cloned() else {
        return Ok(Arguments { all, file: None });
    };
    let settings = setting::read(&file, command)?;
    let left_open = settings.iter().filter(|setting| !is_given(&given, setting));
    all.extend(left_open.flat_map(Setting::arguments).map(OsString::from));
    Ok(Arguments { all, file: Some(file) })
}

/// The settings of a file for the command with this name, such as `["controller", "run"]`.
///
/// # Errors
///
/// As [`expand`].
pub(crate) fn read(root: &Command, names: [&str; 2], file: &Path) -> Result<Vec<Setting>, ConfigFileError> {
    let command = names.iter().try_fold(root, |command, name| command.find_subcommand(name));
    command.map_or(Ok(Vec::new()), |command| setting::read(file, command))
}

/// The command that the arguments choose, if it has `--config`, and what they give. Mistakes are left to the real parse.
fn chosen<'a>(root: &'a Command, arguments: &[OsString]) -> Option<(&'a Command, ArgMatches)> {
    let mut matches = root.clone().ignore_errors(true).try_get_matches_from(arguments).ok()?;
    let mut command = root;
    while let Some((name, inner)) = matches.remove_subcommand() {
        command = command.find_subcommand(&name)?;
        matches = inner;
    }
    command.get_arguments().any(|arg| arg.get_id() == CONFIG).then_some((command, matches))
}

fn is_given(given: &ArgMatches, setting: &Setting) -> bool {
    let source = given.value_source(setting.id.as_str());
    source.is_some_and(|source| source != ValueSource::DefaultValue)
}

#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;
