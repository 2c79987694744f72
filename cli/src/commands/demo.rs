use braid_lab::{Interrupt, Labs, Scenario, StderrProgress};

use super::lab;
use crate::output;

const SCENARIO: &str = include_str!("../../../scenarios/ams-gva.yaml");

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print one JSON document instead of the table
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let scenario = lab::exit(Scenario::parse(SCENARIO, "scenarios/ams-gva.yaml").map_err(Into::into))?;
    if !args.json {
        output::text(&introduction(&scenario))?;
    }
    let name = lab::exit("demo".parse().map_err(braid_lab::LabError::from))?;
    let interrupt = lab::exit(Interrupt::on_signals())?;
    let progress = StderrProgress::new();
    let report = Labs::system().run(&scenario, &name, &lab::controller(None)?, &progress, &interrupt);
    lab::conclude(&lab::exit(report)?, args.json)
}

fn introduction(scenario: &Scenario) -> String {
    let picture = "
        ams1 ─────────── gva1
      ╱  │                │  ╲
   ams   │   100 Mbit/s   │   gva
      ╲  │    each link   │  ╱
        ams2 ─────────── gva2

";
    format!("{}{picture}", scenario.description)
}
