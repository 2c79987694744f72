//! `braid sim compare`: one scenario in a lab and in the simulator, side by side.

mod deal;
mod lay_out;
mod spread;
mod steered;
mod traffic;

use std::path::PathBuf;

use braid_lab::scenario::Mode;
use braid_lab::{Interrupt, LabName, Labs, Scenario, StderrProgress};
use serde::Serialize;

use crate::commands::lab;
use crate::exit::{self, Code, ExitWith};
use crate::output;
use crate::table::table;
use traffic::simulate_all;

#[derive(clap::Args)]
pub(crate) struct Compare {
    /// The scenario file
    #[arg(value_name = "FILE")]
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
    ok: bool,
}

/// The connections of one setting, together.
#[derive(Clone, Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    mode: Mode,
    from: String,
    to: String,
    connections: u16,
    /// Whether it is the sum of all that went on at the same time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    total: bool,
    /// Bits a second of data.
    simulator_bps: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lab_bps: Option<f64>,
    /// The simulator's over the lab's, less one.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<f64>,
}

pub(super) fn execute(args: &Compare) -> anyhow::Result<()> {
    let scenario = lab::load(&args.scenario)?;
    let mut rows = simulate_all(&scenario).exit_with(Code::Usage)?;
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
    let report = Report { schema: braid_lab::SCHEMA, scenario: scenario.name, rows, ok };
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
    for row in rows {
        let same = report.rows.iter().filter(|it| {
            let ends = (&it.direction.from, &it.direction.to) == (&row.from, &row.to);
            ends && it.variant == row.variant && it.mode == row.mode && it.connections == row.connections
        });
        let goodputs: Vec<_> = same.map(|it| it.goodput_bps).collect();
        let mean = goodputs.iter().sum::<f64>() / goodputs.len() as f64;
        if mean > 0.0 {
            (row.lab_bps, row.difference) = (Some(mean), Some(row.simulator_bps / mean - 1.0));
        }
    }
    Ok(())
}

/// What all directions carry together, for each variant, mode and number of connections.
fn totals(rows: &[Row]) -> Vec<Row> {
    let mut totals: Vec<Row> = Vec::new();
    for row in rows {
        let same = |it: &&mut Row| {
            (&it.variant, it.mode, it.connections) == (&row.variant, row.mode, row.connections)
        };
        match totals.iter_mut().find(same) {
            Some(total) => {
                total.simulator_bps += row.simulator_bps;
                total.lab_bps = total.lab_bps.zip(row.lab_bps).map(|(all, it)| all + it);
            }
            None => {
                totals.push(Row { total: true, from: "all".to_owned(), to: "all".to_owned(), ..row.clone() });
            }
        }
    }
    for total in &mut totals {
        total.difference = total.lab_bps.map(|lab| total.simulator_bps / lab - 1.0);
    }
    totals
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
