//! Metrics that are served are those that are listed, labels included.

use std::collections::BTreeSet;

use braid_controller::{MetricFamily, MetricKind};

use crate::support::Running;

/// The family of a sample's name.
fn family_of(name: &str) -> &str {
    ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

#[test]
fn families_of_metrics_are_listed_with_their_types_and_meanings() {
    let controller = Running::start(None);
    let (_, body) = controller.get("/metrics");
    let helps = body.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '));
    let kinds = body.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let served: Vec<_> = kinds.zip(helps).map(|((name, kind), (_, help))| (name, kind, help)).collect();
    let families = MetricFamily::all();
    let listed = families.iter().map(|it| match it.kind {
        MetricKind::Gauge => (it.name.as_str(), "gauge", it.help),
        MetricKind::Counter => (it.name.trim_end_matches("_total"), "counter", it.help),
        MetricKind::Histogram => (it.name.as_str(), "histogram", it.help),
    });
    assert_eq!(served, listed.collect::<Vec<_>>());
}

/// The names of a sample's labels; none of ours has a quote or a comma in its value.
fn labels_of(line: &str) -> (&str, Vec<&str>) {
    let (name, rest) = line.split_once(['{', ' ']).unwrap_or((line, ""));
    let labels = rest.split_once('}').map_or("", |(labels, _)| labels);
    let labels = labels.split(',').filter_map(|label| label.split_once('=').map(|(name, _)| name));
    (name, labels.filter(|name| *name != "le").collect())
}

/// Whether every sample has the labels that are listed for its family; gives the families of the samples.
pub(crate) fn families_with_labels_as_listed(body: &str) -> BTreeSet<String> {
    let families = MetricFamily::all();
    let samples = body.lines().filter(|line| !line.starts_with('#')).map(labels_of);
    let check = |(sample, labels): (&str, Vec<&str>)| {
        let is_it = |it: &&MetricFamily| it.name == sample || it.name == family_of(sample);
        let family = families.iter().find(is_it).unwrap_or_else(|| panic!("{sample} is not listed"));
        assert_eq!(labels, family.labels, "{sample}");
        family.name.clone()
    };
    samples.map(check).collect()
}
