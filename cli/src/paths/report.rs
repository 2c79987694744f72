use braid_paths::Weight;
use braid_paths::query::{EndView, Latency, PathView, PathsView, TogetherVerdict, TogetherView};
use braid_types::{BitsPerSec, DatapathId};
use std::time::Duration;

use crate::client::format;
use crate::table;

/// The paths as a table, and what is to be said of all of them.
pub(crate) fn text(view: &PathsView) -> String {
    let mut text = table::of_columns(columns(view));
    for line in footer(view) {
        text += &format!("\n{line}\n");
    }
    text
}

/// What is to be said beside the paths.
pub(crate) fn notes(view: &PathsView) -> Vec<String> {
    let warnings = view.warnings.iter().map(|warning| format!("warning: {warning}"));
    warnings.chain([&view.src, &view.dst].into_iter().filter_map(other_interfaces)).collect()
}

fn other_interfaces(end: &EndView) -> Option<String> {
    let EndView { name, node, also_at, .. } = end;
    let others = format::list(also_at.iter().map(|node| label(node)), ", ");
    let node = label(node);
    (!also_at.is_empty())
        .then(|| format!("{name} is attached to {node} and to {others}: these paths are those of {node}"))
}

/// Without those that would say nothing.
fn columns(view: &PathsView) -> Vec<(&'static str, Vec<String>)> {
    let weight: Weight = view.weight.parse().unwrap_or_default();
    let column = |cell: &dyn Fn(&PathView) -> String| view.paths.iter().map(cell).collect();
    let ranks = (1..=view.paths.len()).map(|rank| rank.to_string()).collect();
    let any = |test: fn(&PathView) -> bool| view.paths.iter().any(test);
    let columns = [
        (true, "#", ranks),
        (true, "HOPS", column(&|path| path.hops.to_string())),
        (weight != Weight::HOPS, "COST", column(&|path| cost(path.cost, weight))),
        (any(|path| path.delay_us.is_some()), "DELAY", column(&|path| micros(path.delay_us))),
        (any(|path| path.rate_bps.is_some()), "RATE", column(&|path| rate(path.rate_bps))),
        (any(|path| path.shared_cables > 0), "SHARED", column(&|path| path.shared_cables.to_string())),
        (true, "PATH", column(&route)),
    ];
    columns.into_iter().filter(|(shown, ..)| *shown).map(|(_, heading, cells)| (heading, cells)).collect()
}

/// With its unit, if it has one.
fn cost(cost: u64, weight: Weight) -> String {
    if weight == Weight::LATENCY { micros(Some(cost)) } else { cost.to_string() }
}

fn micros(micros: Option<u64>) -> String {
    format::list(micros.map(|micros| Latency(Duration::from_micros(micros))), "")
}

fn rate(bps: Option<u64>) -> String {
    format::list(bps.map(BitsPerSec), "")
}

/// The switches, with the port where another one leads to the same next switch.
fn route(path: &PathView) -> String {
    let mut links = path.links.iter();
    let hop = |node: &String| match links.next().filter(|link| link.parallel) {
        Some(link) => format!("{}:{}", label(node), link.src.port),
        None => label(node),
    };
    path.nodes.iter().map(hop).collect::<Vec<_>>().join(" > ")
}

/// In the network of a controller the name of a switch is its datapath id.
fn label(node: &str) -> String {
    let dpid = node.parse().ok().filter(|dpid: &DatapathId| dpid.to_string() == node);
    dpid.map_or_else(|| node.to_owned(), format::switch)
}

fn footer(view: &PathsView) -> Vec<String> {
    let flow = view.max_flow_bps.map(|bps| flow(bps, view));
    flow.into_iter().chain(view.together.as_ref().map(together)).collect()
}

fn together(view: &TogetherView) -> String {
    let spread = match view.difference_us {
        0 => "Their delays are the same".to_owned(),
        difference => {
            format!("Their delays differ by {}, an imbalance of {:.2}", micros(Some(difference)), view.mdi)
        }
    };
    match view.verdict {
        TogetherVerdict::InOrder => format!("{spread}: one stream can be spread over them."),
        TogetherVerdict::Resequenced => {
            format!("{spread}: one stream can be spread over them if its packets are put in order again.")
        }
        TogetherVerdict::Apart => {
            let best = format::list(view.best.iter().map(|place| place + 1), ", ");
            format!("{spread}: too much for one stream over all of them; over {best} it gets most.")
        }
    }
}

fn flow(greatest: u64, view: &PathsView) -> String {
    let carried: u64 = view.paths.iter().filter_map(|path| path.rate_bps).sum();
    let rest = match carried == greatest {
        true => String::new(),
        false => format!("; these paths carry {}, more of them would carry more", BitsPerSec(carried)),
    };
    format!("The greatest flow is {}{rest}.", BitsPerSec(greatest))
}
