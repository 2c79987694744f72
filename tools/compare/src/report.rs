//! Rows of a comparison: goodputs in the simulator and in the lab, and their difference.

use braid_lab::Report;
use braid_lab::scenario::Mode;
use serde::Serialize;

/// The connections of one setting, together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The scenario's variant, if it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The kind of connections.
    pub mode: Mode,
    /// The sender's name.
    pub from: String,
    /// The receiver's.
    pub to: String,
    /// The number of connections.
    pub connections: u16,
    /// Whether it is the sum of simultaneous directions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub total: bool,
    /// Goodput in bits a second.
    pub simulator_bps: f64,
    /// The lab's mean, if it has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lab_bps: Option<f64>,
    /// The simulator's goodput divided by the lab's, less one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
}

/// Adds the lab's means to the simulator's rows.
pub fn set_beside(rows: &mut [Row], lab: &Report) {
    for row in rows {
        let same = lab.rows.iter().filter(|it| {
            let ends = (&it.direction.from, &it.direction.to) == (&row.from, &row.to);
            ends && it.variant == row.variant && it.mode == row.mode && it.connections == row.connections
        });
        let goodputs: Vec<_> = same.map(|it| it.goodput_bps).collect();
        let mean = goodputs.iter().sum::<f64>() / goodputs.len() as f64;
        if mean > 0.0 {
            (row.lab_bps, row.difference) = (Some(mean), Some(row.simulator_bps / mean - 1.0));
        }
    }
}

/// The total of all directions, for each variant, mode and number of connections.
pub fn totals(rows: &[Row]) -> Vec<Row> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_sums_of_what_went_on_at_the_same_time() {
        let row = |variant: &str, simulator_bps, lab_bps| Row {
            variant: Some(variant.to_owned()),
            mode: Mode::Tcp,
            from: "a".to_owned(),
            to: "b".to_owned(),
            connections: 1,
            total: false,
            simulator_bps,
            lab_bps,
            difference: None,
        };
        let rows = [row("x", 1.0, Some(2.0)), row("y", 5.0, None), row("x", 3.0, Some(6.0))];
        let all = totals(&rows);
        let sums: Vec<_> = all.iter().map(|it| (it.simulator_bps, it.lab_bps, it.difference)).collect();
        assert_eq!(sums, [(4.0, Some(8.0), Some(-0.5)), (5.0, None, None)]);
    }
}
