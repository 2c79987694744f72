//! The shipped scenarios and those in the documentation.

use std::path::Path;

use braid_lab::{LabName, Scenario};
use braid_types::BitsPerSec;

#[test]
fn the_shipped_scenarios_are_valid_and_their_paths_add_up() {
    for (name, capacity) in [
        ("ams-gva", 200_000_000),
        ("two-paths", 200_000_000),
        ("east-asia", 20_000_000),
        ("link-failure", 200_000_000),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml"));
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, name);
        for [from, to] in [[0, 1], [1, 0]] {
            assert_eq!(scenario.topology.capacity(from, to), BitsPerSec(capacity));
        }
    }
}

#[test]
fn every_shipped_scenario_can_be_deployed_by_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == "yaml")).collect();
    assert!(files.len() > 10, "{files:?}");
    for path in files {
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let name = scenario.name.parse::<LabName>();
        assert!(name.is_ok(), "{}: {name:?}", path.display());
    }
}

#[test]
fn hosts_of_shipped_scenarios_have_the_limits_of_linux_or_what_their_endpoints_need() {
    const DEFAULT: u8 = 2;
    for name in ["ams-gva", "any-hosts", "gva-ams-four-paths", "multihomed", "two-paths"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml"));
        for host in Scenario::load(&path).unwrap().topology.hosts {
            let endpoints = u8::try_from(host.mptcp.endpoints.len()).unwrap();
            assert!(host.mptcp.subflows <= endpoints.max(DEFAULT), "{name}: {}", host.name);
        }
    }
}

#[test]
fn the_example_of_the_documentation_is_valid() {
    let page = include_str!("../../../docs/scenarios.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let scenario = Scenario::parse(example, "docs/scenarios.md").unwrap();
    assert_eq!(scenario.topology.links.len(), 3);
}
