//! API basics: switches, empty lists, unknown paths, and metrics that agree with their documentation.

use serde_json::Value;

use crate::support::{Running, Switch};

#[test]
fn a_switch_and_its_ports_are_listed() {
    let controller = Running::start(None);
    let _switch = Switch::join(controller.openflow, 0x2a);
    controller.wait_for_switches(1);
    let switch = &controller.list("switches")[0];
    assert_eq!(switch["dpid"], "000000000000002a");
    assert_eq!(switch["ports"].as_array().map(Vec::len), Some(2));
    assert!(switch["address"].as_str().is_some_and(|address| address.starts_with("127.0.0.1:")));
}

#[test]
fn nothing_known_is_an_empty_list() {
    let controller = Running::start(None);
    let (_, document) = controller.get("/api/v1/openapi.json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let lists = lists(&document);
    assert!(lists.contains(&"alarms") && lists.contains(&"transfers"), "{lists:?}");
    for name in lists {
        assert!(controller.list(name).is_empty(), "{name}");
    }
}

/// The names of the lists that are described: what is read page by page.
fn lists(document: &Value) -> Vec<&str> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let is_list = |methods: &Value| {
        let mut parameters = methods["get"]["parameters"].as_array().into_iter().flatten();
        parameters.any(|parameter| parameter["name"] == "cursor")
    };
    let lists = paths.filter(|(_, methods)| is_list(methods));
    lists.filter_map(|(path, _)| path.strip_prefix("/api/v1/")).collect()
}

#[test]
fn metrics_are_in_the_text_format_with_help_and_type() {
    let controller = Running::start(None);
    let _switch = Switch::join(controller.openflow, 1);
    controller.wait_for_switches(1);
    let (status, body) = controller.get("/metrics");
    assert_eq!(status, 200);
    for line in ["# TYPE braid_switches gauge", "braid_switches 1", "braid_packet_ins_total 0", "# EOF"] {
        assert!(body.lines().any(|found| found == line), "{line} is not in\n{body}");
    }
}

#[test]
fn every_metric_is_documented_and_every_documented_metric_is_there() {
    let controller = Running::start(None);
    let (_, body) = controller.get("/metrics");
    let families = body.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let names =
        families.map(|(name, kind)| format!("{name}{}", if kind == "counter" { "_total" } else { "" }));
    let names: Vec<_> = names.collect();
    let docs = include_str!("../../../../docs/metrics.md");
    let documented = docs.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    // Those of sites are checked where they are served.
    let documented = documented.filter(|name| !name.starts_with("braid_site_"));
    let sorted = |names: &mut dyn Iterator<Item = &str>| {
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(sorted(&mut names.iter().map(String::as_str)), sorted(&mut documented.into_iter()));
}

#[test]
fn an_unknown_path_is_not_found() {
    let controller = Running::start(None);
    assert_eq!(controller.get("/api/v1/nothing").0, 404);
    assert_eq!(controller.get("/../../etc/passwd").0, 404);
}

#[test]
fn dashboards_and_rules_name_metrics_that_are_documented() {
    let docs = include_str!("../../../../docs/metrics.md");
    let files = [
        include_str!("../../../../integrations/grafana/braid.json"),
        include_str!("../../../../integrations/prometheus/braid.rules.yml"),
    ];
    for file in files {
        let words = file.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
        let metrics: std::collections::BTreeSet<_> =
            words.filter(|word| word.starts_with("braid_")).collect();
        assert!(metrics.len() > 5);
        metrics.iter().for_each(|metric| assert!(docs.contains(&format!("`{metric}`")), "{metric}"));
    }
}
