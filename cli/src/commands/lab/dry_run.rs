//! What a lab would be made of and what it would run, without making anything.

use braid_lab::{LabName, Scenario};
use serde_json::json;

use crate::output;
use crate::table::table;

/// Prints the lab of a scenario, and how many transfers it has.
pub(super) fn print(scenario: &Scenario, lab: &LabName, json: bool) -> anyhow::Result<()> {
    let topology = &scenario.topology;
    if json {
        return output::json(&json!({
            "schema": "braid/v1",
            "lab": lab,
            "scenario": scenario.name,
            "hosts": topology.hosts.len() - sites(scenario),
            "sites": sites(scenario),
            "switches": topology.switches.len(),
            "links": topology.links.len(),
            "controllers": scenario.controllers,
            "rounds": scenario.rounds(),
        }));
    }
    output::text(&format!("lab {lab}: {}\n\n{}\n{}", summary(scenario), hosts(scenario), links(scenario)))
}

/// The size of a scenario.
pub(super) fn summary(scenario: &Scenario) -> String {
    let topology = &scenario.topology;
    let (hosts, switches, links) = (topology.hosts.len(), topology.switches.len(), topology.links.len());
    let size = match sites(scenario) {
        0 => format!("{hosts} hosts, {switches} switches, {links} links"),
        sites => format!("{} hosts, {sites} sites, {links} links", hosts - sites),
    };
    let size = match scenario.controllers {
        1 => size,
        several => format!("{size}, {several} controllers"),
    };
    let Some(traffic) = &scenario.traffic else { return format!("{size}, no traffic") };
    let rounds = scenario.rounds();
    let least = (traffic.warm_up + traffic.duration).as_secs() * rounds as u64;
    format!("{size}, {rounds} transfers or rounds of them, which send for {} min", least.div_ceil(60))
}

/// The number of sites, whose boxes are among the hosts.
fn sites(scenario: &Scenario) -> usize {
    scenario.topology.sites.as_ref().map_or(0, |sites| sites.boxes.len())
}

fn hosts(scenario: &Scenario) -> String {
    let interfaces =
        scenario.topology.hosts.iter().flat_map(|host| host.interfaces.iter().map(move |it| (host, it)));
    let rows = interfaces.map(|(host, interface)| {
        let addresses: Vec<_> = interface.addresses.iter().map(ToString::to_string).collect();
        [host.name.clone(), interface.name.clone(), addresses.join(" ")]
    });
    table(["HOST", "INTERFACE", "ADDRESSES"], rows)
}

fn links(scenario: &Scenario) -> String {
    let topology = &scenario.topology;
    let rows = topology.links.iter().flat_map(|link| {
        let [a, b] = link.ends.map(|end| topology.end_name(end));
        let [there, back] = link.directions;
        [(a.clone(), b.clone(), there), (b, a, back)].map(|(from, to, way)| {
            let rate = way.rate.map(|rate| rate.to_string()).unwrap_or_default();
            [from, to, rate, way.delay.to_string(), way.queue.to_string()]
        })
    });
    table(["FROM", "TO", "RATE", "DELAY", "QUEUE"], rows)
}
