//! `braid schema`: JSON schemas of the files that people write, for editors.

use braid_lab::Scenario;
use braid_sim::StudyKind;
use braid_steering::Policies;
use clap::{CommandFactory, ValueEnum};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

use crate::{config_file, output};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The format
    #[arg(value_name = "FORMAT")]
    format: Format,
}

/// A format of files.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Testbeds and their traffic, for `braid lab` (YAML)
    Scenario,
    /// Studies, for `braid sim` (YAML)
    Study,
    /// Which traffic is steered, and how (TOML)
    Policy,
    /// Options of `braid controller run` (TOML)
    Controller,
    /// Options of `braid edge run` (TOML)
    Edge,
    /// Options of `braid host run` (TOML)
    Host,
    /// A site, for `braid site run` (TOML)
    Site,
    /// Braid's own JSON of a network
    Topology,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let mut schema = args.format.schema();
    RecursiveTransform(plain_links).transform(&mut schema);
    let title = format!("Braid: {}", args.format.title());
    schema.insert("title".to_owned(), title.into());
    output::text(&format!("{}\n", serde_json::to_string_pretty(&schema)?))
}

impl Format {
    fn schema(self) -> Schema {
        let options = |daemon| config_file::schema(&crate::Cli::command(), [daemon, "run"]);
        match self {
            Self::Scenario => Scenario::schema(),
            Self::Study => StudyKind::schema(),
            Self::Policy => Policies::schema(),
            Self::Controller => options("controller"),
            Self::Edge => options("edge"),
            Self::Host => options("host"),
            Self::Site => braid_site::Config::schema(),
            Self::Topology => braid_topology::export::json_schema(),
        }
    }

    fn title(self) -> String {
        self.to_possible_value().and_then(|it| it.get_help().map(ToString::to_string)).unwrap_or_default()
    }
}

/// Descriptions are comments of the code, whose links lead nowhere in an editor.
fn plain_links(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`").replace("`Self::", "`");
    }
}
