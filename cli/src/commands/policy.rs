//! `braid policy`: policies checked, shown and loaded.

use std::path::PathBuf;

use braid_api::{PolicyInUse, Steering};
use braid_controller::PolicyFile;
use clap::Subcommand;
use serde_json::Value;

use crate::client::{Args, answer, format};
use crate::exit::{Code, ExitWith};
use crate::output;
use crate::table::table;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Check a policy file; reports line, column and field of each mistake
    Check(Check),
    /// Show the policy of a running controller
    Show(Args),
    /// Load a policy file into a running controller; open streams keep their paths
    ///
    /// The controller has to run on this machine. The policy stays in force until the controller ends or reloads its own
    /// file (SIGHUP).
    Load(Load),
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The policy file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct Load {
    /// The policy file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    args: Args,
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Check(Check { file }) => {
            PolicyFile::read(file).exit_with(Code::Usage)?;
            output::text(&format!("{}: ok\n", file.display()))
        }
        Command::Show(args) => show(args),
        Command::Load(Load { file, args }) => {
            let policy = PolicyFile::read(file).exit_with(Code::Usage)?;
            let body = answer(args.client()?.set_policy(policy.text()))?;
            if args.json() { args.print(&body) } else { output::text("the policy is in force\n") }
        }
    }
}

fn show(args: &Args) -> anyhow::Result<()> {
    let (body, PolicyInUse { policy, .. }) = args.ask("policy", &())?;
    if args.json() {
        // The controller's document without its null values.
        return serde_json::from_str::<Value>(&body).map_err(Into::into).and_then(|it| output::json(&it));
    }
    let rules = policy.rules.iter().map(|rule| {
        let any = |list: &[String]| if list.is_empty() { "any".to_owned() } else { format::list(list, " ") };
        row(&rule.name, [any(&rule.from), any(&rule.to), any(&rule.ports)], &rule.steering)
    });
    let rest = row("default", ["any", "any", "any"].map(str::to_owned), &policy.default);
    let heads = ["RULE", "FROM", "TO", "PORTS", "KIND", "PATHS", "K", "PLACEMENT", "SUBFLOWS"];
    output::text(&table(heads, rules.chain([rest])))
}

fn row(name: &str, [from, to, ports]: [String; 3], steering: &Steering) -> [String; 9] {
    let Steering { kind, paths, k, placement, subflows, .. } = steering;
    let number = |it: &Option<usize>| it.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let text = |it: &Option<String>| it.clone().unwrap_or_else(|| "-".to_owned());
    [
        name.to_owned(),
        from,
        to,
        ports,
        kind.name().to_owned(),
        text(paths),
        number(k),
        text(placement),
        number(subflows),
    ]
}
