//! The checks that turn a scenario file into a scenario, reporting every problem.

mod captures;
mod controllers;
mod directions;
mod events;
mod expectations;
mod hosts;
mod links;
mod names;
mod own;
mod profiles;
mod requests;
mod sites;
mod traffic;
mod uplinks;
mod variants;

use super::file::File;
use super::problem::{Problem, Problems};
use super::{Scenario, Topology};
use super::{generate, sites as boxes};

pub(super) fn check(file: &mut File) -> Result<Scenario, Vec<Problem>> {
    let mut problems = Problems::default();
    generate::expand(&mut file.topology, &mut problems);
    file.topology.gather_switches();
    boxes::expand(&mut file.topology);
    let file = &*file;
    names::check(file, &mut problems);
    let hosts = hosts::check(&file.topology, &mut problems);
    let switches = links::switches(&file.topology, &mut problems);
    let links = links::check(&file.topology, &mut problems);
    let mut topology = Topology { hosts, switches, links, tunnels: Vec::new(), rewrite: false, sites: None };
    topology.sites = sites::check(file, &topology, &mut problems);
    uplinks::check(&file.topology, &mut topology, &mut problems);
    let traffic = file.traffic.as_ref().and_then(|it| traffic::check(it, &topology, &mut problems));
    if let Some(traffic) = &traffic {
        hosts::check_senders(&file.topology, traffic, &mut problems);
    }
    let variants = variants::check(file, &topology, &mut problems);
    let profiles = profiles::check(file, &topology, &mut problems);
    let controllers = controllers::check(file, &mut problems);
    let events = events::check(file, &mut topology, &mut problems);
    let captures = captures::check(file, &topology, &mut problems);
    let expect = expectations::check(file, &mut problems);
    let (name, description) = (file.scenario.value.clone(), file.description.trim().to_owned());
    problems.into_result(Scenario {
        name,
        description,
        tls: file.tls,
        controllers,
        topology,
        traffic,
        profiles,
        variants,
        events,
        captures,
        expect,
    })
}
