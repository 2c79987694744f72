//! The table of a scenario with profiles: a line for each, with what others have published.

use std::fmt::Write;

use braid_lab::{ProfileColumns, ProfileRow};

use super::tables::{bare, cell};
use crate::findings::{RunFindings, lab_report};
use crate::plan::Unit;
use crate::statistics::Statistics;

/// The heading of the last column.
const TO_BEST_OTHER: &str = "ratio to the best other";

/// A line for each profile and congestion control; `None` if there are no profiles.
pub(super) fn table(found: &RunFindings) -> Option<String> {
    let reports = found.records.iter().filter_map(lab_report);
    let repetitions: Vec<_> = reports.map(|report| report.profiles.as_slice()).collect();
    render(&repetitions)
}

fn render(repetitions: &[&[ProfileRow]]) -> Option<String> {
    let rows = *repetitions.first().filter(|rows| !rows.is_empty())?;
    let columns = ProfileColumns::of(rows);
    let head = head(&columns);
    let mut text = "\nGoodput in Mbit/s, then ratios; those beyond the limit are bold.".to_owned();
    text += if compares_with_others(&columns) {
        " The last column divides the first\nratio by the greatest of all others: of other variants, and published ones.\n"
    } else {
        "\n"
    };
    // Writing to a text cannot fail.
    let _ = writeln!(text, "\n| {} |\n|{}", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let lines = (&row.profile, &row.congestion_control);
        let same = |it: &&ProfileRow| (&it.profile, &it.congestion_control) == lines;
        let all: Vec<_> = repetitions.iter().flat_map(|rows| rows.iter().filter(same)).collect();
        let _ = writeln!(text, "| {} |", line(&columns, &all).join(" | "));
    }
    Some(text)
}

fn head(columns: &ProfileColumns) -> Vec<String> {
    let ProfileColumns { goodputs, ratios, published } = columns;
    let names = goodputs.iter().chain(ratios).chain(published).map(String::as_str);
    let last = compares_with_others(columns).then_some(TO_BEST_OTHER);
    ["profile", "control"].into_iter().chain(names).chain(last).map(cell).collect()
}

/// Whether there is a column for the ratio to the best other: where several ratios have limits, they say what is compared.
const fn compares_with_others(columns: &ProfileColumns) -> bool {
    columns.ratios.len() == 1
}

/// The cells of one profile and congestion control, from all its repetitions.
fn line(columns: &ProfileColumns, all: &[&ProfileRow]) -> Vec<String> {
    let Some(row) = all.first() else { return Vec::new() };
    let mut cells = vec![cell(&row.profile), row.congestion_control.clone().unwrap_or_default()];
    cells.extend(columns.goodputs.iter().map(|name| goodput(all, name)));
    cells.extend(columns.ratios.iter().map(|name| ratio(all, name)));
    let published = |name: &String| row.published.get(name).map(|value| format!("{value:.2}"));
    cells.extend(columns.published.iter().map(|name| published(name).unwrap_or_default()));
    if compares_with_others(columns) {
        cells.push(summary(all.iter().filter_map(|row| to_best_other(row)), Unit::Ratio));
    }
    cells
}

fn goodput(all: &[&ProfileRow], name: &str) -> String {
    let of = |row: &&ProfileRow| row.goodputs.iter().find(|it| it.name == name).map(|it| it.bps);
    summary(all.iter().filter_map(of), Unit::Mbit)
}

fn ratio(all: &[&ProfileRow], name: &str) -> String {
    let found: Vec<_> = all.iter().flat_map(|it| &it.ratios).filter(|it| it.verdict.name == name).collect();
    let values = summary(found.iter().map(|it| it.verdict.value), Unit::Ratio);
    match (found.is_empty(), found.iter().all(|it| it.verdict.ok)) {
        (true, _) => String::new(),
        (_, true) => values,
        (_, false) if values.is_empty() => "**no value**".to_owned(),
        (_, false) => format!("**{values}**"),
    }
}

/// `None` if the first ratio is not of one variant, or there is nothing else.
fn to_best_other(row: &ProfileRow) -> Option<f64> {
    let ratio = row.ratios.first()?;
    let (base, variant) = (ratio.base_bps?, ratio.variant.as_ref()?);
    // A variant of several modes has a goodput for each, named after both.
    let is_same =
        |name: &str| name.strip_prefix(variant).is_some_and(|rest| rest.is_empty() || rest.starts_with(", "));
    let others = row.goodputs.iter().filter(|it| !is_same(&it.name)).map(|it| it.bps / base);
    let best = others.chain(row.published.values().copied()).fold(0.0, f64::max);
    (best > 0.0).then_some(ratio.verdict.value / best)
}

fn summary(values: impl Iterator<Item = f64>, unit: Unit) -> String {
    Statistics::of(&values.collect::<Vec<_>>()).map(|it| bare(it, unit)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(profile: &str, both: f64, published: &serde_json::Value) -> ProfileRow {
        let ratio = both / 4e7;
        let row = json!({
            "profile": profile, "congestion_control": "bbr", "runs": 1,
            "goodputs": [{ "name": "line A", "bps": 4e7 }, { "name": "both", "bps": both }],
            "ratios": [{
                "name": "both to A", "value": ratio, "bound": "at_least", "limit": 0.97, "ok": ratio >= 0.97,
                "variant": "both", "base_bps": 4e7
            }],
            "published": published
        });
        serde_json::from_value(row).expect("a row")
    }

    #[test]
    fn each_profile_has_the_median_of_its_repetitions_and_a_missed_ratio_is_bold() {
        let repetitions = [6e7, 3e7, 5e7]
            .map(|both| [row("far", both, &json!({ "others": 1.2 })), row("near", 5e7, &json!({}))]);
        let text = render(&repetitions.each_ref().map(<[_; 2]>::as_slice)).expect("a table");
        let lines: Vec<_> = text.lines().skip_while(|line| !line.starts_with('|')).collect();
        assert_eq!(
            lines[0],
            "| profile | control | line A | both | both to A | others | ratio to the best other |"
        );
        let far = "| far | bbr | 40.0 (40.0 to 40.0) | 50.0 (30.0 to 60.0) | **1.250 (0.750 to 1.500)** | 1.20 \
            | 1.042 (0.625 to 1.250) |";
        assert_eq!(lines[2], far);
        assert!(lines[3].ends_with("| 1.250 (1.250 to 1.250) |  | 1.250 (1.250 to 1.250) |"), "{}", lines[3]);
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn where_several_ratios_have_limits_there_is_no_column_for_the_best_other() {
        let mut row = row("far", 6e7, &json!({ "others": 1.2 }));
        row.ratios.push(row.ratios[0].clone());
        row.ratios[1].verdict.name = "both to others".to_owned();
        let text = render(&[&[row]]).expect("a table");
        assert!(text.contains("| both to A | both to others | others |\n"), "{text}");
        assert!(text.contains("| 1.500 | 1.500 | 1.20 |\n") && !text.contains("last column"), "{text}");
    }

    #[test]
    fn a_scenario_without_profiles_has_no_such_table() {
        assert_eq!((render(&[]), render(&[&[]])), (None, None));
    }
}
