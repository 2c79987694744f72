//! The sources of networks (files, generators, controllers), for all commands that take a network.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, stdin};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use braid_client::Url;
use braid_lab::Scenario;
use braid_topology::Blueprint;
use braid_topology::generate::{Links, Spec, SpecError};
use braid_topology::import::{self, Imported, MAX_INPUT};
use braid_types::{AmountError, BitsPerSec, parse_time_within};

use super::live;
use crate::complete;
use crate::exit::{self, Code, ExitWith};

/// The options of every command that takes a network.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file (GraphML, node-link JSON, Mininet's editor's, containerlab's, Braid's JSON or a scenario), `-` for
    /// standard input, or a network to generate, such as fattree:8; by default the network of a running controller
    ///
    /// Generators: fattree:K, jellyfish:SWITCHES,PORTS,HOSTS(,SEED), dh-jellyfish:SWITCHES,PORTS,HOSTS(,SEED),
    /// line:N, ring:N, torus:ROWS,COLUMNS, two-path, east-asia, huang-a, huang-b. A file of such a name is ./NAME.
    #[arg(add = complete::networks())]
    source: Option<Source>,
    /// The address of the controller's API
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8653", env = "BRAID_CONTROLLER")]
    controller: Url,
    #[command(flatten)]
    links: LinkArgs,
}

/// The default properties of links.
#[derive(clap::Args, Clone, Copy, Default)]
pub(crate) struct LinkArgs {
    /// The capacity of generated links, and of links without one in the file; by default 1Gbit
    #[arg(long)]
    rate: Option<BitsPerSec>,
    /// The delay of generated links, such as 1ms; by default unknown
    #[arg(long, value_parser = delay)]
    delay: Option<Duration>,
}

/// The source of a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Generator(Spec),
    File(PathBuf),
    StandardInput,
}

/// A network with warnings about assumptions and skipped parts.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) blueprint: Blueprint,
    pub(crate) warnings: Vec<String>,
}

impl Args {
    /// Loads the requested network and prints its warnings to standard error.
    pub(crate) fn load(&self) -> anyhow::Result<Blueprint> {
        let loaded = match &self.source {
            Some(source) => load(source, self.links),
            None => self.links.without_delay().and_then(|rate| live::load(&self.controller, rate)),
        }?;
        Ok(loaded.with_warnings_printed())
    }
}

impl Loaded {
    /// Prints the warnings to standard error and returns the network.
    pub(crate) fn with_warnings_printed(self) -> Blueprint {
        self.warnings.iter().for_each(|warning| exit::say(&format!("warning: {warning}")));
        self.blueprint
    }
}

impl LinkArgs {
    /// Whether an option is given.
    pub(crate) const fn is_given(self) -> bool {
        self.rate.is_some() || self.delay.is_some()
    }

    fn capacity(self) -> BitsPerSec {
        self.rate.unwrap_or(Links::default().capacity)
    }

    /// The capacity for networks that are not generated, which take no delay.
    fn without_delay(self) -> anyhow::Result<BitsPerSec> {
        match self.delay {
            None => Ok(self.capacity()),
            Some(_) => Err(exit::error(Code::Usage, "--delay is for networks that are generated")),
        }
    }
}

/// What a source has: a network, or the text of a scenario.
pub(crate) enum Content {
    Network(Loaded),
    Scenario(String),
}

/// Reads a source. A missing file ends with [`Code::NotFound`], invalid content with [`Code::Usage`].
pub(crate) fn open(source: &Source, links: LinkArgs) -> anyhow::Result<Content> {
    let (text, format) = match source {
        Source::Generator(spec) => {
            let blueprint = generate(*spec, links)?;
            return Ok(Content::Network(Loaded { blueprint, warnings: Vec::new() }));
        }
        Source::File(path) => {
            let text = read_file(path)?;
            let format = Format::of(path, &text);
            (text, format)
        }
        Source::StandardInput => {
            let text = read(stdin().lock()).context("standard input").exit_with(Code::Usage)?;
            let format = Format::of_content(&text);
            (text, format)
        }
    };
    parse(&text, &source.to_string(), format, links)
}

/// Loads a network, also that of a scenario.
pub(crate) fn load(source: &Source, links: LinkArgs) -> anyhow::Result<Loaded> {
    match open(source, links)? {
        Content::Network(network) => Ok(network),
        Content::Scenario(text) => {
            let file = source.to_string();
            let scenario = Scenario::parse(&text, &file).exit_with(Code::Usage)?;
            let blueprint = scenario.blueprint().with_context(|| file)?;
            Ok(Loaded { blueprint, warnings: Vec::new() })
        }
    }
}

/// Generates the network of a spec.
pub(crate) fn generate(spec: Spec, links: LinkArgs) -> anyhow::Result<Blueprint> {
    if spec.has_own_links() && links.is_given() {
        let what = format!("{spec} says itself what its links carry: leave out --rate and --delay");
        return Err(exit::error(Code::Usage, what));
    }
    let links = Links { capacity: links.capacity(), delay: links.delay };
    spec.generate(links).exit_with(Code::Usage)
}

impl FromStr for Source {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text {
            "-" => Ok(Self::StandardInput),
            spec if Spec::is_meant_by(spec) => spec.parse().map(Self::Generator),
            path => Ok(Self::File(path.into())),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generator(spec) => spec.fmt(f),
            Self::File(path) => path.display().fmt(f),
            Self::StandardInput => f.write_str("standard input"),
        }
    }
}

/// The format of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    GraphMl,
    Json,
    Containerlab,
    Scenario,
}

impl Format {
    fn of(path: &Path, text: &str) -> Self {
        // Only one format can begin like this, whatever the file's name.
        let is_xml = Self::of_content(text) == Self::GraphMl;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("graphml" | "xml") => Self::GraphMl,
            _ if is_xml => Self::GraphMl,
            Some("json" | "mn") => Self::Json,
            Some("yaml" | "yml") => Self::of_yaml(text),
            _ => Self::of_content(text),
        }
    }

    // A scenario may also begin with a brace, but its keys have no quotes.
    fn of_content(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let after_brace = text.strip_prefix(['{', '[']).map(str::trim_start);
        match after_brace {
            _ if text.starts_with('<') => Self::GraphMl,
            Some(inside) if inside.is_empty() || inside.starts_with(['"', '}', '[', '{', ']']) => Self::Json,
            _ => Self::of_yaml(text),
        }
    }

    // Each scenario says its name at the left margin; containerlab's files have nodes in their topology.
    fn of_yaml(text: &str) -> Self {
        let has = |key: &str| text.lines().any(|line| line.starts_with(key));
        let has_nodes =
            || text.lines().any(|line| line.starts_with(' ') && line.trim_start().starts_with("nodes:"));
        if !has("scenario:") && has("topology:") && has_nodes() { Self::Containerlab } else { Self::Scenario }
    }
}

fn parse(text: &str, file: &str, format: Format, links: LinkArgs) -> anyhow::Result<Content> {
    let capacity = links.without_delay()?;
    let refuse = |what: &str| Err(exit::error(Code::Usage, format!("{file}: {what}")));
    if text.len() > MAX_INPUT {
        return refuse(&format!("it is longer than {MAX_INPUT} bytes, the most that is read"));
    }
    if text.trim().is_empty() {
        return refuse("it is empty");
    }
    // A byte order mark, as Windows editors write it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Imported { blueprint, warnings } = match format {
        Format::GraphMl => import::graphml(text, file, capacity).exit_with(Code::Usage)?,
        Format::Json => import::json(text, file, capacity).exit_with(Code::Usage)?,
        Format::Containerlab => import::containerlab(text, file, capacity).exit_with(Code::Usage)?,
        Format::Scenario => return Ok(Content::Scenario(text.to_owned())),
    };
    let warnings = warnings.iter().map(ToString::to_string).collect();
    Ok(Content::Network(Loaded { blueprint, warnings }))
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    let name = || path.display().to_string();
    match File::open(path).and_then(read) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let remedy = "name a file, or a network to generate such as fattree:8";
            Err(exit::error(Code::NotFound, format!("{}: {error}; {remedy}", name())))
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(exit::error(Code::Usage, format!("{}: it is not text; GraphML, JSON and YAML are", name())))
        }
        result => result.with_context(name),
    }
}

/// A link's delay; as in a file, an hour at most.
fn delay(text: &str) -> Result<Duration, AmountError> {
    parse_time_within(text, Duration::from_secs(3_600), "at most 3600s")
}

/// Reads one byte more than the importer's limit, so that it detects longer input.
fn read(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(MAX_INPUT as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_generators_are_specs_and_all_else_is_a_file() {
        assert_eq!("-".parse(), Ok(Source::StandardInput));
        assert_eq!("ring:5".parse(), Ok(Source::Generator(Spec::Ring { switches: 5 })));
        for path in ["ring.json", "./ring:5", "networks/two-path", "c:/x.graphml"] {
            assert_eq!(path.parse(), Ok(Source::File(path.into())));
        }
        assert!("ring:x".parse::<Source>().is_err());
    }

    #[test]
    fn formats_are_told_by_extension_then_by_content() {
        let of = |path: &str, text| Format::of(Path::new(path), text);
        assert_eq!(of("a.graphml", "{"), Format::GraphMl);
        assert_eq!(of("a.yml", "{"), Format::Scenario);
        assert_eq!(of("a.json", "<graphml/>"), Format::GraphMl);
        assert_eq!(of("a.mn", "{"), Format::Json);
        assert_eq!(of("a.clab.yml", "topology:\n  nodes:\n"), Format::Containerlab);
        for (text, format) in [
            ("\u{feff}\n<?xml?>", Format::GraphMl),
            ("{ \"nodes\": []}", Format::Json),
            ("[[", Format::Json),
            ("{scenario: tiny}", Format::Scenario),
            ("# a comment\nscenario: x", Format::Scenario),
            ("", Format::Scenario),
            ("name: x\ntopology:\n  nodes:\n    a:\n", Format::Containerlab),
            ("scenario: x\ntopology:\n  nodes:\n", Format::Scenario),
        ] {
            assert_eq!(of("a.txt", text), format, "{text}");
        }
    }
}
