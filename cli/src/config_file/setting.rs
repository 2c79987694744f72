//! Keys of a file as options of a command: their names, values and checks.

use std::path::Path;

use braid_types::Problem;
use clap::builder::{OsStr, Resettable};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command, Id};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::CONFIG;
use super::problem::ConfigFileError;

/// An option with the values that a file gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    /// The name of its key.
    pub(crate) key: String,
    pub(super) id: Id,
    /// The option's values; none for a flag.
    values: Vec<String>,
}

impl Setting {
    /// The setting as arguments of a command line.
    pub(super) fn arguments(&self) -> Vec<String> {
        let option = option_of(&self.key);
        match self.values.is_empty() {
            true => vec![option],
            false => self.values.iter().map(|value| format!("{option}={value}")).collect(),
        }
    }
}

/// Reads a file for a command, and checks each key by itself.
pub(super) fn read(file: &Path, command: &Command) -> Result<Vec<Setting>, ConfigFileError> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|source| ConfigFileError::Read { file: file.to_owned(), source })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    parse(&text, folder, command)
        .map_err(|problems| ConfigFileError::Content { file: file.to_owned(), problems })
}

fn parse(text: &str, folder: &Path, command: &Command) -> Result<Vec<Setting>, Vec<Problem>> {
    let table = DeTable::parse(text).map_err(|error| {
        let what = error.message().trim().replace('\n', ", ");
        vec![Problem::at(text, &error.span().unwrap_or_default(), what)]
    })?;
    let reader = Reader { folder, checker: checker(command) };
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let (mut settings, mut problems) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        match reader.setting(key.get_ref(), value) {
            Ok(setting) => settings.extend(setting),
            Err(what) => problems.push(Problem::at(text, &key.span(), what)),
        }
    }
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

struct Reader<'a> {
    folder: &'a Path,
    checker: Command,
}

impl Reader<'_> {
    /// The setting of a key; `None` for a flag that is false.
    fn setting(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Option<Setting>, String> {
        let arg = self.arg(key).ok_or_else(|| self.unknown(key))?;
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        let values = match (value.get_ref(), is_flag) {
            (DeValue::Boolean(false), true) => return Ok(None),
            (DeValue::Boolean(true), true) => Vec::new(),
            (_, true) => return Err(format!("`{key}` is true or false")),
            (DeValue::Array(values), false) if !matches!(arg.get_action(), ArgAction::Append) => {
                return Err(format!("`{key}` takes one value, not a list of {}", values.len()));
            }
            (DeValue::Array(values), false) if values.is_empty() => return Ok(None),
            (DeValue::Array(values), false) => {
                values.iter().map(|value| self.value(key, arg, value.get_ref())).collect::<Result<_, _>>()?
            }
            (value, false) => vec![self.value(key, arg, value)?],
        };
        let setting = Setting { key: key.to_owned(), id: arg.get_id().clone(), values };
        let checked = self.checker.clone().try_get_matches_from(setting.arguments());
        checked.map(|_| Some(setting)).map_err(|error| explain(key, &error))
    }

    fn value(&self, key: &str, arg: &Arg, value: &DeValue<'_>) -> Result<String, String> {
        let is_file = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "FILE"));
        match value {
            DeValue::String(text) if is_file => Ok(self.folder.join(text.as_ref()).display().to_string()),
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => integer(number).ok_or_else(|| format!("`{key}` is too large")),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            other => Err(format!("`{key}` takes text or a number, not a {}", other.type_str())),
        }
    }

    fn arg(&self, key: &str) -> Option<&Arg> {
        self.checker.get_arguments().find(|arg| arg.get_long().map(key_of).as_deref() == Some(key))
    }

    fn unknown(&self, key: &str) -> String {
        if self.arg(&key_of(key)).is_some() {
            return format!("there is no key `{key}`; did you mean `{}`?", key_of(key));
        }
        let error = self.checker.clone().try_get_matches_from([option_of(key)]).err();
        let near = error.as_ref().and_then(|error| error.get(ContextKind::SuggestedArg));
        let hint = match near {
            Some(ContextValue::String(option)) => format!("; did you mean `{}`?", key_of(option)),
            _ => "; each option of the command is a key, with _ for -".to_owned(),
        };
        format!("there is no key `{key}`{hint}")
    }
}

/// The command's options without what they demand of each other, so that each can be checked by itself.
pub(super) fn checker(command: &Command) -> Command {
    let alone = |arg: &Arg| {
        let arg = arg.clone().required(false).env(Resettable::<OsStr>::Reset);
        let arg = arg.requires(Resettable::<Id>::Reset).conflicts_with(Resettable::<Id>::Reset);
        arg.required_unless_present(Resettable::<Id>::Reset)
    };
    // Descriptors are inherited from a parent process, which no file knows.
    let is_key = |arg: &&Arg| {
        let name = arg.get_id().as_str();
        arg.get_long().is_some() && !arg.is_global_set() && name != CONFIG && !name.ends_with("_fd")
    };
    let keys = command.get_arguments().filter(is_key).map(alone);
    Command::new("keys").no_binary_name(true).disable_help_flag(true).disable_version_flag(true).args(keys)
}

pub(super) fn key_of(option: &str) -> String {
    option.trim_start_matches('-').replace('-', "_")
}

fn option_of(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn integer(number: &DeInteger<'_>) -> Option<String> {
    i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
}

/// What clap says of a value, about the key in place of the option, in one line.
fn explain(key: &str, error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = text.split("\n\nFor more information").next().unwrap_or(text);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = lines.join(" ");
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => text.replace(&format!("'{option}'"), &format!("`{key}`")),
        _ => text,
    }
}
