//! `braid sim compare`: one scenario in a lab and in the simulator, side by side.

use std::path::PathBuf;

use braid_compare::{Refused, Row, Simulated, set_beside, simulate, totals};
use braid_lab::{Interrupt, LabName, Labs, Scenario, StderrProgress};
use serde::Serialize;

use crate::commands::lab;
use crate::exit::{self, Code, ExitWith};
use crate::table::table;
use crate::{complete, output};

#[derive(clap::Args)]
pub(crate) struct Compare {
    /// The scenario file
    #[arg(value_name = "FILE", add = complete::yaml_files())]
    scenario: PathBuf,
    /// The lab's name while it is up; by default the scenario's
    #[arg(long)]
    name: Option<LabName>,
    /// How far a goodput may be from the lab's, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 7.0)]
    within: f64,
    /// Leave the lab out, and print what the simulator has alone
    #[arg(long)]
    simulator_only: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// One document, as other runs of scenarios print.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    scenario: String,
    rows: Vec<Row>,
    /// Variants that the simulator cannot follow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<Refused>,
    ok: bool,
}

pub(super) fn execute(args: &Compare) -> anyhow::Result<()> {
    let scenario = lab::load(&args.scenario)?;
    let Simulated { mut rows, refused } = simulate(&scenario).exit_with(Code::Usage)?;
    refused.iter().for_each(|it| exit::say(&format!("skipped: {it}")));
    if !args.simulator_only {
        measure(args, &scenario, &mut rows)?;
    }
    let together = scenario.traffic.as_ref().is_some_and(|traffic| traffic.simultaneous);
    if together {
        rows.extend(totals(&rows));
    }
    // Which of two that share a link has more is chance; what all carry is not.
    let counts = |row: &&Row| row.total == together;
    let apart = |row: &Row| row.difference.is_some_and(|it| it.abs() * 100.0 > args.within);
    let ok =
        args.simulator_only || rows.iter().filter(counts).all(|row| row.difference.is_some() && !apart(row));
    let report = Report { schema: braid_lab::SCHEMA, scenario: scenario.name, rows, refused, ok };
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&to_text(&report.rows))?;
    }
    let all = report.rows.iter().filter(counts).count();
    let far = report.rows.iter().filter(counts).filter(|row| apart(row)).count();
    match ok {
        true => Ok(()),
        false => Err(exit::error(
            Code::Unmet,
            format!("{far} of {all} rows are more than {} % apart", args.within),
        )),
    }
}

/// Runs the lab, and puts its means beside the simulator's.
fn measure(args: &Compare, scenario: &Scenario, rows: &mut [Row]) -> anyhow::Result<()> {
    let name = lab::name_of(args.name.clone(), scenario)?;
    let interrupt = lab::exit(Interrupt::on_signals())?;
    let control = lab::controller(None)?;
    let report = Labs::system().run(scenario, &name, &control, &StderrProgress::new(), &interrupt);
    let report = lab::exit(report)?;
    set_beside(rows, &report);
    Ok(())
}

fn to_text(rows: &[Row]) -> String {
    let mbit = |bps: f64| format!("{:.1}", bps / 1e6);
    let lines = rows.iter().map(|row| {
        [
            row.variant.clone().unwrap_or_default(),
            row.mode.to_string(),
            format!("{} > {}", row.from, row.to),
            row.connections.to_string(),
            row.lab_bps.map(mbit).unwrap_or_default(),
            mbit(row.simulator_bps),
            row.difference.map(|it| format!("{:+.1} %", it * 100.0)).unwrap_or_default(),
        ]
    });
    table(["VARIANT", "MODE", "DIRECTION", "STREAMS", "LAB-MBIT/S", "SIM-MBIT/S", "DIFFERENCE"], lines)
}
