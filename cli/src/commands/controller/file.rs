//! A controller's configuration file: checked, and read again at SIGHUP.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use braid_controller::{Config, Reload, Reloaded};
use clap::CommandFactory;

use super::options::Run;
use super::{Command, configuration};
use crate::config_file::{self, Setting};
use crate::exit::{Code, ExitWith, error};
use crate::{Cli, output};

const POLICY: &str = "policy";

/// Checks a file and those that it names.
pub(super) fn check(file: &Path) -> anyhow::Result<()> {
    let line = ["braid", "controller", "run", "--config"].map(OsString::from);
    let config = configuration_of(line.into_iter().chain([file.into()]).collect())?;
    let switches = match config.openflow {
        braid_controller::Listen::Address(address) => address.to_string(),
        braid_controller::Listen::Inherited(_) => "an inherited socket".to_owned(),
    };
    let http = config.http;
    output::text(&format!("{}: valid; OpenFlow on {switches}, API on {http}\n", file.display()))
}

/// The configuration that a command line of `braid controller run` says.
pub(in crate::commands) fn configuration_of(arguments: Vec<OsString>) -> anyhow::Result<Config> {
    let cli = crate::parse(arguments).map_err(|refusal| error(refusal.code(), refusal))?;
    let run = run_of(cli).context("the command line does not run a controller")?;
    let config = configuration::of(run)?;
    config.check().exit_with(Code::Usage)?;
    Ok(config)
}

fn run_of(cli: Cli) -> Option<Run> {
    match cli.command {
        crate::commands::Command::Controller(Command::Run(run)) => Some(*run),
        _ => None,
    }
}

/// The file of a controller that runs.
#[derive(Debug)]
pub(super) struct ReloadedFile {
    file: PathBuf,
    /// Those that the controller started with.
    in_use: Vec<Setting>,
}

impl ReloadedFile {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        Ok(Self { file: file.to_owned(), in_use: settings(file).exit_with(Code::Usage)? })
    }
}

impl Reload for ReloadedFile {
    fn reload(&mut self) -> Result<Reloaded, String> {
        let config = configuration_of(without_descriptors(std::env::args_os()));
        let config = config.map_err(|error| format!("{error:#}"))?;
        let now = settings(&self.file).map_err(|error| error.to_string())?;
        Ok(Reloaded { policy: config.policy, at_next_start: changed(&self.in_use, &now) })
    }
}

fn settings(file: &Path) -> Result<Vec<Setting>, config_file::ConfigFileError> {
    config_file::read(&Cli::command(), ["controller", "run"], file)
}

/// The keys that differ, but for the policy, which changes while the controller runs.
fn changed(before: &[Setting], now: &[Setting]) -> Vec<String> {
    let missing = |from: &[Setting], of: &[Setting]| -> Vec<String> {
        of.iter().filter(|setting| !from.contains(setting)).map(|setting| setting.key.clone()).collect()
    };
    let keys: BTreeSet<_> = missing(before, now).into_iter().chain(missing(now, before)).collect();
    keys.into_iter().filter(|key| key != POLICY).collect()
}

/// The arguments but for inherited descriptors, which the controller has taken over already.
fn without_descriptors(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let is_descriptor = |text: &str| ["--openflow-fd", "--http-fd"].contains(&text);
    let mut value_follows = false;
    arguments
        .filter(|argument| {
            let text = argument.to_string_lossy();
            let is_value = std::mem::replace(&mut value_follows, is_descriptor(&text));
            let (option, _) = text.split_once('=').unwrap_or((&text, ""));
            !is_value && !is_descriptor(option)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherited_descriptors_are_not_taken_over_twice() {
        let line = ["braid", "--openflow-fd", "3", "--config", "x", "--http-fd=4", "-v"].map(OsString::from);
        let left = without_descriptors(line.into_iter());
        assert_eq!(left, ["braid", "--config", "x", "-v"].map(OsString::from));
    }
}
