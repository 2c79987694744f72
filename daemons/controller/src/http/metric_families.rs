//! The families of metrics that the controller serves, for the reference.

use std::iter;

use serde::Serialize;

use super::{
    certificate_metrics, cluster_metrics, edge_metrics, link_metrics, metrics, process_metrics,
    switch_metrics,
};

/// A family of metrics: those of one name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MetricFamily {
    /// The name with which samples are served.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: MetricKind,
    /// The unit; `None` for plain numbers.
    pub unit: Option<&'static str>,
    /// The names of the labels, without those of the type itself, such as `le`.
    pub labels: Vec<&'static str>,
    /// The meaning.
    pub help: &'static str,
}

/// The type of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// A number that rises and falls.
    Gauge,
    /// A number that only rises.
    Counter,
    /// Counts by size.
    Histogram,
}

/// Endings of names, with the unit that each stands for; the longest of a kind first.
const UNITS: [(&str, &str); 7] = [
    ("_bytes_per_second", "bytes per second"),
    ("_timestamp_seconds", "seconds since 1970"),
    ("_start_time_seconds", "seconds since 1970"),
    ("_seconds", "seconds"),
    ("_bytes", "bytes"),
    ("_packets", "packets"),
    ("_ratio", "0 to 1"),
];

/// Labels with their values.
pub(super) fn with_values<const N: usize>(
    labels: [&'static str; N],
    values: [String; N],
) -> [(&'static str, String); N] {
    let mut values = values.into_iter();
    labels.map(|label| (label, values.next().unwrap_or_default()))
}

impl MetricFamily {
    /// All families, in the order in which they are served: those of the process first, then Braid's own.
    pub fn all() -> Vec<Self> {
        let own = metrics::families()
            .chain(cluster_metrics::families())
            .chain(iter::once(process_metrics::build_family()))
            .chain(switch_metrics::families())
            .chain(link_metrics::families())
            .chain(edge_metrics::families())
            .chain(certificate_metrics::families());
        let own = own.map(|it| Self { name: format!("{}_{}", metrics::PREFIX, it.name), ..it });
        process_metrics::families().chain(own).collect()
    }

    pub(super) fn gauge(name: &str, help: &'static str, labels: &[&'static str]) -> Self {
        Self::new(MetricKind::Gauge, name, help, labels)
    }

    pub(super) fn counter(name: &str, help: &'static str, labels: &[&'static str]) -> Self {
        let counter = Self::new(MetricKind::Counter, name, help, labels);
        Self { name: format!("{name}_total"), ..counter }
    }

    pub(super) fn histogram(name: &str, help: &'static str, labels: &[&'static str]) -> Self {
        Self::new(MetricKind::Histogram, name, help, labels)
    }

    fn new(kind: MetricKind, name: &str, help: &'static str, labels: &[&'static str]) -> Self {
        let unit = UNITS.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, unit)| unit);
        Self { name: name.to_owned(), kind, unit, labels: labels.to_vec(), help }
    }
}
