//! Scenarios from files and networks, checked as far as possible before anything is made.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use braid_controller::PolicyFile;
use braid_lab::scenario::{FromNetwork, HostsAt, Variant};
use braid_lab::{LabError, Scenario};

use super::exit as lab_exit;
use crate::commands::controller;
use crate::exit::{Code, ExitWith, error};
use crate::topology::source::{self, Content, LinkArgs, Source};

/// The options of a lab that is made from a network without traffic.
#[derive(clap::Args, Default)]
pub(crate) struct NetworkArgs {
    /// The hosts of a network that is no scenario: their number, spread over its switches, or the switches that get one each
    #[arg(long, value_name = "NUMBER|NAMES")]
    hosts: Option<HostsAt>,
    #[command(flatten)]
    links: LinkArgs,
}

impl NetworkArgs {
    /// Whether an option is given.
    pub(crate) const fn is_given(&self) -> bool {
        self.hosts.is_some() || self.links.is_given()
    }
}

/// The scenario of a file, a network or a generator.
pub(crate) fn open(source: &Source, network: &NetworkArgs) -> anyhow::Result<Scenario> {
    let loaded = match source::open(source, network.links)? {
        Content::Scenario(_) if network.hosts.is_some() => {
            let what = format!("{source} is a scenario, which has its own hosts: leave out --hosts");
            return Err(error(Code::Usage, what));
        }
        Content::Scenario(text) => return parse(&text, &source.to_string()),
        Content::Network(loaded) => loaded,
    };
    let made = Scenario::of_network(&loaded.with_warnings_printed(), network.hosts.as_ref())
        .exit_with(Code::Usage)?;
    let FromNetwork { scenario, renamed } = made;
    say_renamed(&renamed);
    Ok(scenario)
}

/// The scenario in a file, with the options that its variants give to controllers.
pub(crate) fn load(path: &Path) -> anyhow::Result<Scenario> {
    open(&Source::File(path.to_owned()), &NetworkArgs::default())
}

fn say_renamed(renamed: &BTreeMap<String, String>) {
    if !renamed.is_empty() {
        let all: Vec<_> = renamed.iter().map(|(name, before)| format!("{name} ({before})")).collect();
        crate::exit::say(&format!("switches have names that Linux takes: {}", all.join(", ")));
    }
}

fn parse(text: &str, file: &str) -> anyhow::Result<Scenario> {
    let scenario = lab_exit(Scenario::parse(text, file).map_err(LabError::from))?;
    for (index, variant) in scenario.variants.iter().enumerate() {
        check_controller(variant, &format!("{file}: variants[{index}] {:?}", variant.name))?;
    }
    Ok(scenario)
}

/// Checks the options of a variant's controller as the controller itself would, and its policy.
fn check_controller(variant: &Variant, place: &str) -> anyhow::Result<()> {
    if let Some(text) = &variant.policy {
        let refused = |problem| error(Code::Usage, format!("{place}, policy: {problem}"));
        PolicyFile::check(text).map_err(refused)?;
    }
    let option = |(name, value): (&String, &String)| OsString::from(format!("--{name}={value}"));
    let Err(refusal) = configuration(variant.controller.iter().map(option)) else { return Ok(()) };
    // The one that is refused alone is to blame; if none is, they do not go together.
    let alone = variant.controller.iter().find_map(|(name, value)| {
        let refusal = configuration(std::iter::once(option((name, value)))).err()?;
        Some((format!("controller.{name}"), refusal))
    });
    let (key, refusal) = alone.unwrap_or_else(|| ("controller".to_owned(), refusal));
    Err(error(Code::Usage, format!("{place}, {key}: {}", first_words(&refusal))))
}

fn configuration(options: impl Iterator<Item = OsString>) -> anyhow::Result<()> {
    let command = ["braid", "controller", "run"].map(OsString::from);
    controller::configuration_of(command.into_iter().chain(options).collect()).map(drop)
}

/// What is wrong, and what was perhaps meant, without how the command is used.
fn first_words(refusal: &anyhow::Error) -> String {
    let text = format!("{refusal:#}");
    let reason = text.split("\n\nUsage:").next().unwrap_or_default();
    let reason = reason.split("\n\nFor more information").next().unwrap_or_default();
    reason.split_whitespace().collect::<Vec<_>>().join(" ")
}
