//! `braid controller metrics`: the metrics that a controller serves.

use braid_controller::{MetricFamily, MetricKind};

use crate::output;
use crate::table::table;

pub(super) fn execute(json: bool) -> anyhow::Result<()> {
    let families = MetricFamily::all();
    if json {
        return output::json(&serde_json::json!({ "schema": "braid/v1", "metrics": families }));
    }
    output::text(&table(["NAME", "TYPE", "UNIT", "LABELS", "MEANING"], families.iter().map(row)))
}

fn row(family: &MetricFamily) -> [String; 5] {
    let kind = match family.kind {
        MetricKind::Gauge => "gauge",
        MetricKind::Counter => "counter",
        MetricKind::Histogram => "histogram",
    };
    let unit = family.unit.unwrap_or_default();
    [family.name.clone(), kind.to_owned(), unit.to_owned(), family.labels.join(" "), family.help.to_owned()]
}
