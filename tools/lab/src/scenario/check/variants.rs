//! Checks of variants: names, controller options, policies, rules and agents.

use std::collections::{BTreeMap, BTreeSet};

use super::super::file::{self, File};
use super::super::problem::Problems;
use super::super::{Agents, Mode, PathManager, Topology, Variant};
use super::{hosts, own, sites, traffic};
use crate::scenario::spanned::Spanned;

/// Options that the lab itself passes to its controller.
const LAB_OPTIONS: [&str; 9] =
    ["openflow", "openflow-fd", "http", "http-fd", "lab", "agent-tokens", "record", "network", "help"];

/// Checks names and controller options.
pub(super) fn check(file: &File, topology: &Topology, problems: &mut Problems) -> Vec<Variant> {
    let mut names = BTreeSet::new();
    for (index, variant) in file.variants.iter().enumerate() {
        let (key, name) = (format!("variants[{index}].name"), &variant.name);
        if name.value.trim().is_empty() {
            problems.add(name.referenced, key, "the name is empty", "give it one");
        } else if !names.insert(&name.value) {
            let what = format!("{:?} is the name of another variant", name.value);
            problems.add(name.referenced, key, what, "give each another one");
        }
    }
    let all = file.variants.iter().enumerate();
    all.map(|(index, it)| variant(it, &format!("variants[{index}]"), (file, topology), problems)).collect()
}

fn variant(
    variant: &file::Variant,
    key: &str,
    (file, topology): (&File, &Topology),
    problems: &mut Problems,
) -> Variant {
    let controller = controller(variant, key, problems);
    let policy = policy(variant, key, problems);
    let rules = rules(variant, key, file, problems);
    let modes = variant.modes.as_ref().map(|modes| {
        check_modes(modes, &format!("{key}.modes"), file, problems);
        modes.value.clone()
    });
    let streams = variant.streams.as_ref();
    let streams = streams.map(|it| traffic::check_streams(it, &format!("{key}.streams"), problems));
    let tools = file.traffic.as_ref().map(own::tools).unwrap_or_default();
    let assign = variant.assign.as_ref();
    let assign = assign.map(|it| traffic::check_assign(it, &tools, &format!("{key}.assign"), problems));
    let subflows = variant.subflows.as_ref();
    let subflows = subflows.map(|it| hosts::limit(Some(it), &format!("{key}.subflows"), problems));
    let accept_addresses = variant.accept_addresses.as_ref();
    let accept_addresses =
        accept_addresses.map(|it| hosts::limit(Some(it), &format!("{key}.accept_addresses"), problems));
    let endpoint_flags = variant.endpoint_flags.as_ref().map(|flags| {
        hosts::check_flags(flags.referenced, &flags.value, &format!("{key}.endpoint_flags"), problems);
        flags.value.clone()
    });
    let congestion_control = variant.congestion_control.as_ref().map(|name| {
        let key = format!("{key}.congestion_control");
        hosts::check_congestion_control(name, &key, problems);
        if file.traffic.as_ref().is_some_and(|traffic| traffic.congestion_control.is_some()) {
            let what = "the traffic names congestion controls for all variants";
            problems.add(name.referenced, key, what, "remove it, or traffic.congestion_control");
        }
        name.value.clone()
    });
    let agents = agents(variant, key, file, problems);
    let lines = sites::lines(variant, key, (file, topology), problems);
    Variant {
        name: variant.name.value.clone(),
        controller,
        policy,
        rules,
        modes,
        streams,
        assign,
        subflows,
        accept_addresses,
        endpoint_flags,
        congestion_control,
        lines,
        tunnel: variant.tunnel.as_ref().map(|tunnel| tunnel.value),
        rewrite: rewrite(variant, key, file, problems),
        agents,
    }
}

/// Checks that there are tunnels of edges, which rewrite.
fn rewrite(variant: &file::Variant, key: &str, file: &File, problems: &mut Problems) -> bool {
    let Some(rewrite) = &variant.rewrite else { return false };
    if file.topology.tunnels.is_empty() {
        let what = "there are no tunnels of edges";
        problems.add(
            rewrite.referenced,
            format!("{key}.rewrite"),
            what,
            "remove it, or add topology.tunnels:",
        );
    }
    rewrite.value
}

/// Checks agents, which need a controller.
fn agents(variant: &file::Variant, key: &str, file: &File, problems: &mut Problems) -> Agents {
    let Some(agents) = &variant.agents else { return Agents::None };
    if agents.value == Agents::Managed && variant.rules.is_some() {
        let what = "rules stand in the place of the controller that agents ask";
        problems.add(agents.referenced, format!("{key}.agents"), what, "remove it, or rules:");
    }
    let mut users = file.topology.hosts.iter().filter_map(|host| host.mptcp.as_ref()).peekable();
    if agents.value == Agents::Managed && users.peek().is_none() {
        let what = "no host uses Multipath TCP, so that there is nothing to manage";
        problems.add(
            agents.referenced,
            format!("{key}.agents"),
            what,
            "remove it, or give hosts an mptcp key",
        );
    }
    let is_agent =
        |mptcp: &file::Mptcp| mptcp.path_manager.as_ref().is_some_and(|it| it.value == PathManager::Agent);
    if agents.value == Agents::Managed && users.any(is_agent) {
        let what = "a host has an agent of its own already";
        problems.add(agents.referenced, format!("{key}.agents"), what, "remove it, or path_manager: agent");
    }
    agents.value
}

fn controller(variant: &file::Variant, key: &str, problems: &mut Problems) -> BTreeMap<String, String> {
    let Some(options) = &variant.controller else { return BTreeMap::new() };
    for option in options.value.keys() {
        let key = format!("{key}.controller.{option}");
        let is_name = option.starts_with(|first: char| first.is_ascii_lowercase())
            && option.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if LAB_OPTIONS.contains(&&**option) || option.starts_with("cluster") {
            problems.add(options.referenced, key, format!("--{option} is the lab's own"), "remove it");
        } else if !is_name {
            let remedy = "`braid controller run --help` has those that there are";
            problems.add(options.referenced, key, format!("{option:?} is no option"), remedy);
        }
    }
    options.value.iter().map(|(option, value)| (option.clone(), value.to_string())).collect()
}

/// Checks the policy with the controller's parser.
fn policy(variant: &file::Variant, key: &str, problems: &mut Problems) -> Option<String> {
    let policy = variant.policy.as_ref()?;
    let (at, key) = (policy.referenced, format!("{key}.policy"));
    if variant.rules.is_some() {
        problems.add(at, key, "rules stand in the place of the controller", "remove it, or rules:");
    } else if variant.controller.as_ref().is_some_and(|it| it.value.contains_key("policy")) {
        problems.add(at, key, "the policy is given twice", "remove it, or controller.policy");
    }
    Some(policy.value.clone())
}

/// Checks fixed rules: they replace the controller, for existing switches.
fn rules(
    variant: &file::Variant,
    key: &str,
    file: &File,
    problems: &mut Problems,
) -> BTreeMap<String, Vec<String>> {
    let Some(rules) = &variant.rules else { return BTreeMap::new() };
    if variant.controller.is_some() {
        let what = "rules stand in the place of a controller";
        problems.add(rules.referenced, format!("{key}.rules"), what, "remove them, or controller:");
    }
    for switch in rules.value.keys() {
        if !file.topology.switches.iter().any(|it| it.parts().0 == switch) {
            let what = format!("there is no switch {switch:?}");
            problems.add(rules.referenced, format!("{key}.rules"), what, "name one of topology.switches");
        }
    }
    rules.value.clone()
}

fn check_modes(modes: &Spanned<Vec<Mode>>, key: &str, file: &File, problems: &mut Problems) {
    let all = file.traffic.as_ref().map(|traffic| traffic.modes.value.as_slice()).unwrap_or_default();
    if modes.value.is_empty() || modes.value.iter().any(|mode| !all.contains(mode)) {
        let what = "these are not some of traffic.modes";
        problems.add(modes.referenced, key, what, "name modes that are there, or remove it");
    }
}

/// Checks that an expectation's variant exists.
pub(super) fn check_name(name: Option<&Spanned<String>>, key: &str, file: &File, problems: &mut Problems) {
    let Some(name) = name else { return };
    if !file.variants.iter().any(|variant| variant.name.value == name.value) {
        let what = format!("there is no variant {:?}", name.value);
        problems.add(name.referenced, key, what, "name one of variants");
    }
}
