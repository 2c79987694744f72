//! Path answers as tables and sentences for the terminal.

use std::time::Duration;

use braid_api::{PathSet, RankedPath, SprayVerdict, Spraying};
use braid_assign::StreamModel;
use braid_paths::query::Latency;
use braid_paths::{Kind, Request, Weight};
use braid_types::{BitsPerSec, DatapathId};

use crate::client::format;
use crate::table;

/// The paths as a table with sentences below it. With a model: the streams that each path alone can use.
pub(crate) fn text(view: &PathSet, model: Option<StreamModel>) -> String {
    let mut text = table::of_columns(columns(view, model));
    for line in footer(view) {
        text += &format!("\n{line}\n");
    }
    text
}

/// The sentences below the table.
pub(crate) fn notes(view: &PathSet) -> impl Iterator<Item = String> {
    view.warnings.iter().map(|warning| format!("warning: {warning}"))
}

/// Columns without those that are empty.
fn columns(view: &PathSet, model: Option<StreamModel>) -> Vec<(&'static str, Vec<String>)> {
    let weight: Weight = view.weight.parse().unwrap_or_default();
    let column = |cell: &dyn Fn(&RankedPath) -> String| view.paths.iter().map(cell).collect();
    let ranks = (1..=view.paths.len()).map(|rank| rank.to_string()).collect();
    let any = |test: fn(&RankedPath) -> bool| view.paths.iter().any(test);
    let columns = [
        (true, "#", ranks),
        (true, "HOPS", column(&|path| path.hops.to_string())),
        (weight != Weight::HOPS, "COST", column(&|path| cost(path.cost, weight))),
        (any(|path| path.delay_us.is_some()), "DELAY", column(&|path| micros(path.delay_us))),
        (any(|path| path.rate_bps.is_some()), "RATE", column(&|path| rate(path.rate_bps))),
        (
            model.is_some(),
            "STREAMS",
            column(&|path| model.map(|model| streams(path, model)).unwrap_or_default()),
        ),
        (any(|path| path.shared_links > 0), "SHARED", column(&|path| path.shared_links.to_string())),
        (true, "PATH", column(&route)),
    ];
    columns.into_iter().filter(|(shown, ..)| *shown).map(|(_, heading, cells)| (heading, cells)).collect()
}

/// The number of streams that a path can use, if its delay and rate are known; the reverse path has the same delay.
fn streams(path: &RankedPath, model: StreamModel) -> String {
    let known = path.rate_bps.zip(path.delay_us);
    let count = known.map(|(rate, micros)| {
        model.streams(BitsPerSec(rate), Duration::from_secs_f64(2.0 * micros.max(0.0) / 1e6))
    });
    format::list(count.map(|count| format!("{count:.0}")), "")
}

/// A cost with its unit, if it has one.
fn cost(cost: Option<u64>, weight: Weight) -> String {
    if weight == Weight::LATENCY { micros(cost.map(|micros| micros as f64)) } else { format::list(cost, "") }
}

fn micros(micros: Option<f64>) -> String {
    format::list(micros.map(Latency::from_micros), "")
}

fn rate(bps: Option<u64>) -> String {
    format::list(bps.map(BitsPerSec), "")
}

/// The switches, with the port where there are parallel links to the next switch.
fn route(path: &RankedPath) -> String {
    let mut links = path.links.iter();
    let hop = |node: &String| match links.next().filter(|link| link.parallel) {
        Some(link) => format!("{}:{}", label(node), link.src.port),
        None => label(node),
    };
    path.nodes.iter().map(hop).collect::<Vec<_>>().join(" > ")
}

/// The name of a switch; in a controller's network its datapath id.
fn label(node: &str) -> String {
    let dpid = node.parse().ok().filter(|dpid: &DatapathId| dpid.to_string() == node);
    dpid.map_or_else(|| node.to_owned(), format::switch)
}

fn footer(view: &PathSet) -> Vec<String> {
    let together = view.spraying.as_ref().map(|it| spread(it, view));
    let more = format!("There are more; -k shows up to {}.", Request::MAX_PATHS);
    [flow(view), together, view.truncated.then_some(more)].into_iter().flatten().collect()
}

/// The sentence on spreading one stream over all paths. Delays do not show whether paths share links.
fn spread(spraying: &Spraying, view: &PathSet) -> String {
    let difference = match spraying.delay_difference_us {
        0.0 => "Their delays are the same".to_owned(),
        micros_apart => {
            let difference = micros(Some(micros_apart));
            format!("Their delays differ by {difference}, an imbalance of {:.2}", spraying.mdi)
        }
    };
    let shared = view.paths.iter().any(|path| path.shared_links > 0);
    let by_delays = if shared { "by their delays alone, " } else { "" };
    let best = ranks(&spraying.best_paths);
    match (spraying.verdict, shared) {
        (SprayVerdict::InOrder, _) => {
            format!("{difference}: {by_delays}one stream can be spread over them.")
        }
        (SprayVerdict::Resequenced, _) => format!(
            "{difference}: {by_delays}one stream can be spread over them if its packets are resequenced."
        ),
        (SprayVerdict::Unsuitable, true) => {
            format!(
                "{difference}: too much for one stream over all of them; {by_delays}it can go over {best}."
            )
        }
        (SprayVerdict::Unsuitable, false) => {
            format!("{difference}: too much for one stream over all of them; over {best} it gets most.")
        }
    }
}

/// Paths by their sorted indices from 0: `path 2 alone`, `paths 1, 3-5`.
fn ranks(places: &[usize]) -> String {
    let rank = |place: usize| place.saturating_add(1);
    if let [place] = places {
        return format!("path {} alone", rank(*place));
    }
    let runs = places.chunk_by(|one, next| rank(*one) == *next).filter_map(|run| match run {
        [] => None,
        [one] => Some(rank(*one).to_string()),
        [one, two] => Some(format!("{}, {}", rank(*one), rank(*two))),
        [first, .., last] => Some(format!("{}-{}", rank(*first), rank(*last))),
    });
    format!("paths {}", format::list(runs, ", "))
}

fn flow(view: &PathSet) -> Option<String> {
    let rates = view.paths.iter().filter_map(|path| path.rate_bps);
    let carried = BitsPerSec(rates.fold(0, u64::saturating_add));
    let mode: Option<Kind> = view.mode.parse().ok();
    match view.max_flow_bps.map(BitsPerSec) {
        Some(greatest) if greatest == carried => Some(format!("The greatest flow is {greatest}.")),
        Some(greatest) => {
            Some(format!("The greatest flow is {greatest}; these paths carry {carried}: raise -k for more."))
        }
        None if mode == Some(Kind::MaxFlow) && view.src.dpid != view.dst.dpid => Some(format!(
            "These paths carry {carried}; paths that take longer were left out; more may fit in time."
        )),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_predicted_where_rate_and_delay_are_known() {
        let path = |rate_bps, delay_us| RankedPath {
            nodes: Vec::new(),
            links: Vec::new(),
            hops: 0,
            cost: None,
            delay_us,
            rate_bps,
            shared_links: 0,
        };
        let model = StreamModel::default();
        assert_eq!(streams(&path(Some(100_000_000), Some(61_000.0)), model), "18");
        assert_eq!(streams(&path(Some(50_000_000), Some(0.0)), model), "1");
        for unknown in [path(None, Some(1.0)), path(Some(1), None)] {
            assert_eq!(streams(&unknown, model), format::list(None::<u8>, ""));
        }
    }

    #[test]
    fn places_that_follow_each_other_are_a_range() {
        assert_eq!(ranks(&[1]), "path 2 alone");
        assert_eq!(ranks(&[0, 1]), "paths 1, 2");
        assert_eq!(ranks(&[0, 2, 3, 4, 9]), "paths 1, 3-5, 10");
        assert_eq!(ranks(&(1..16).collect::<Vec<_>>()), "paths 2-16");
    }
}
