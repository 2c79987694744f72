//! Tables of a lab's links and of their frame counters.

use braid_lab::{LinkEnd, LinkInspection};
use braid_link_model::Parameters;

use crate::table::table;

/// The table of links, a line for each direction.
pub(super) fn links(links: &[LinkInspection]) -> String {
    let rows = directions(links).map(|(link, from, to)| {
        let state = if link.up { "up" } else { "down" };
        let Parameters { rate, queue, delay, .. } = from.parameters;
        let rate = rate.map_or_else(String::new, |rate| rate.to_string());
        let [queue, delay] = [queue.to_string(), delay.to_string()];
        let trouble = trouble(&from.parameters);
        [
            from.name.clone(),
            to.name.clone(),
            state.to_owned(),
            link.backend.to_string(),
            rate,
            delay,
            queue,
            trouble,
        ]
    });
    table(["FROM", "TO", "STATE", "BACKEND", "RATE", "DELAY", "QUEUE", "TROUBLE"], rows)
}

/// The table of frame counters, a line for each direction of links in user space.
pub(super) fn counters(links: &[LinkInspection]) -> Option<String> {
    let rows: Vec<_> = directions(links).filter_map(|(_, from, to)| row(from, to)).collect();
    let heading =
        ["FROM", "TO", "FRAMES", "ARRIVED", "OVERFLOWED", "LOST", "CUT-OFF", "MISSED", "QUEUED", "FLYING"];
    (!rows.is_empty()).then(|| table(heading, rows))
}

fn row(from: &LinkEnd, to: &LinkEnd) -> Option<[String; 10]> {
    let counters = from.counters?;
    let model = counters.model;
    let [frames, arrived, overflowed, lost, cut_off, missed, queued, flying] = [
        model.offered.frames,
        model.delivered.frames,
        model.overflowed.frames,
        model.lost.frames,
        counters.undeliverable.frames,
        counters.port.missed + counters.port.too_long,
        counters.inside.queued.frames,
        counters.inside.flying.frames,
    ]
    .map(|count| count.to_string());
    let (from, to) = (from.name.clone(), to.name.clone());
    Some([from, to, frames, arrived, overflowed, lost, cut_off, missed, queued, flying])
}

/// Both directions of every link.
fn directions(links: &[LinkInspection]) -> impl Iterator<Item = (&LinkInspection, &LinkEnd, &LinkEnd)> {
    links.iter().flat_map(|link| {
        let [a, b] = &link.ends;
        [(link, a, b), (link, b, a)]
    })
}

/// Jitter, loss and reordering, if any.
fn trouble(way: &Parameters) -> String {
    let mut words = Vec::new();
    if !way.jitter.duration().is_zero() {
        words.push(format!("jitter {}", way.jitter));
    }
    if way.loss.share() > 0.0 {
        let burst =
            if way.loss_burst > 1.0 { format!(" in bursts of {}", way.loss_burst) } else { String::new() };
        words.push(format!("loss {}{burst}", way.loss));
    }
    if way.reorder.share() > 0.0 {
        words.push(format!("reorder {}", way.reorder));
    }
    words.join(", ")
}
