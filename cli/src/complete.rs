//! Names for the completion of shells: of labs, presets, networks, scenarios, switches and hosts.
//!
//! What cannot be read, or takes longer than a moment, completes nothing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use braid_api::{Host, Switch};
use braid_client::{Client, Options, Url};
use braid_lab::{Inspection, Labs};
use braid_sim::study::Preset;
use braid_topology::generate::Spec;
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};

use crate::client::{format, list, options};
use crate::topology::source::{self, LinkArgs, Source};

/// What the scripts of `braid completion` set.
pub(crate) const VARIABLE: &str = "BRAID_COMPLETE";
/// A shell waits for the answer of a controller.
const PATIENCE_OF_SHELLS: Duration = Duration::from_millis(500);
const CONTROLLER: &str = "http://127.0.0.1:8653";

/// Answers a shell that asks for candidates, and ends; otherwise does nothing.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(crate::Cli::command).var(VARIABLE).complete();
}

/// The labs of this machine.
pub(crate) fn labs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let labs = Labs::system().list().unwrap_or_default();
        labs.iter().map(|lab| candidate(&lab.lab.to_string(), &lab.scenario)).collect()
    })
}

/// The hosts of the lab that the command line names.
pub(crate) fn hosts_of_lab() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let hosts = named_lab().map(|lab| lab.hosts).unwrap_or_default();
        hosts.iter().map(|host| CompletionCandidate::new(&host.name)).collect()
    })
}

/// Labs, and the ends of links in the lab that the command line names.
pub(crate) fn ends_of_links() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Some(lab) = named_lab() else { return labs().candidates() };
        let hosts = lab.hosts.iter().map(|it| &it.name);
        let names: BTreeSet<_> = hosts.chain(lab.switches.iter().map(|it| &it.name)).collect();
        names.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// The studies that come with Braid.
pub(crate) fn presets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        Preset::ALL.map(|preset| CompletionCandidate::new(preset.to_string())).into_iter().collect()
    })
}

/// Generators, and files of networks.
pub(crate) fn networks() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut found = generators(current);
        found.extend(files(&["graphml", "xml", "json", "mn", "yaml", "yml"]).complete(current));
        found
    })
}

/// Generators alone.
pub(crate) fn families() -> ArgValueCompleter {
    ArgValueCompleter::new(generators)
}

/// Files in YAML.
pub(crate) fn yaml_files() -> ArgValueCompleter {
    ArgValueCompleter::new(files(&["yaml", "yml"]))
}

/// Switches and hosts: of the network that `--topology` names, or of the controller.
pub(crate) fn nodes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = match option("--topology").and_then(|it| it.into_string().ok()?.parse().ok()) {
            Some(source) => names_in(&source),
            None => names_at_controller(),
        };
        names.unwrap_or_default().iter().map(CompletionCandidate::new).collect()
    })
}

/// The switches of the controller that the command line names.
pub(crate) fn switches() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = client().and_then(|client| names_of_switches(&client));
        names.unwrap_or_default().iter().map(CompletionCandidate::new).collect()
    })
}

fn candidate(name: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(help.to_owned().into()))
}

fn generators(current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let families = Spec::FORMS.into_iter().map(|form| {
        let end = form.find(':').map_or(form.len(), |colon| colon + 1);
        (form.get(..end).unwrap_or(form), form)
    });
    let fitting = families.filter(|(family, _)| family.starts_with(&*typed));
    fitting.map(|(family, form)| candidate(family, form)).collect()
}

fn files(extensions: &'static [&str]) -> PathCompleter {
    let has = |path: &Path, extensions: &[&str]| {
        path.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension))
    };
    PathCompleter::file().filter(move |path| path.is_dir() || has(path, extensions))
}

/// The words of the line that is completed, which the shell passes on.
fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(1)
}

/// The value of an option in the line that is completed.
fn option(name: &str) -> Option<OsString> {
    let joined = words().find_map(|word| Some(word.to_str()?.strip_prefix(name)?.strip_prefix('=')?.into()));
    joined.or_else(|| words().skip_while(|word| word != name).nth(1))
}

/// The lab that the line names, or the only one.
fn named_lab() -> Option<Inspection> {
    let (labs, all) = (Labs::system(), Labs::system().list().ok()?);
    let named = all.iter().find(|lab| words().any(|word| word == *lab.lab.to_string()));
    let one = named.or_else(|| all.first().filter(|_| all.len() == 1))?;
    labs.inspect(&one.lab).ok()
}

fn names_in(source: &Source) -> Option<BTreeSet<String>> {
    let network = source::load(source, LinkArgs::default()).ok()?.blueprint;
    let switches = network.switches().iter().map(|it| it.name.clone());
    Some(switches.chain(network.hosts().iter().map(|it| it.name.clone())).collect())
}

fn names_at_controller() -> Option<BTreeSet<String>> {
    let client = client()?;
    let hosts = list::<Host>(&client).ok()?.into_iter();
    let of_host = |it: Host| it.name.or_else(|| it.addresses.first().map(ToString::to_string));
    Some(names_of_switches(&client)?.into_iter().chain(hosts.filter_map(of_host)).collect())
}

fn names_of_switches(client: &Client) -> Option<BTreeSet<String>> {
    let switches = list::<Switch>(client).ok()?.into_iter();
    Some(switches.map(|it| format::named_switch(it.name.as_deref(), it.dpid)).collect())
}

/// A client of the controller that the command line names.
fn client() -> Option<Client> {
    let given = option("--controller").or_else(|| std::env::var_os("BRAID_CONTROLLER"));
    let url: Url = given.map_or(Ok(CONTROLLER.to_owned()), OsString::into_string).ok()?.parse().ok()?;
    let options = Options { timeout: PATIENCE_OF_SHELLS, ..options(&url).ok()? };
    Client::with(&url, &options).ok()
}
