//! Names of switches, ports and hosts in lists, path queries, events and metrics.

use std::net::SocketAddr;

use braid_controller::{Config, HostMetadata, SwitchMetadata};
use braid_types::{DatapathId, SwitchPort};
use serde_json::{Value, json};

use crate::metrics::families_with_labels_as_listed;
use crate::network::{HOSTS, Network, ip};
use crate::support::{config, wait_for};

/// Switches `ams1` and `gva1`; host 2 is `dtn` by its port, host 1 `login` by its address, and host 3 has no name.
fn network() -> Network {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let named = |name: &str| SwitchMetadata { name: Some(name.to_owned()), ..SwitchMetadata::default() };
    let switch_metadata = [(1, "ams1"), (2, "gva1"), (3, "gva2")];
    let switch_metadata = switch_metadata.map(|(dpid, name)| (DatapathId(dpid), named(name))).into();
    let host_metadata = HostMetadata {
        by_port: [(SwitchPort::new(DatapathId(2), HOSTS), "dtn".to_owned())].into(),
        by_address: [(ip(1), "login".to_owned())].into(),
    };
    Network::start_as(Config { switch_metadata, host_metadata, ..config(any, any, None) })
}

fn ask(network: &Network, query: &str) -> (u16, Value) {
    let (status, body) = network.controller.get(&format!("/api/v1/paths?{query}"));
    (status, serde_json::from_str(&body).expect("JSON"))
}

#[test]
fn lists_have_names_beside_ids() {
    let network = network();
    let links = network.controller.list("links");
    let ends: Vec<_> = links.iter().map(|link| (&link["src_name"], &link["dst_name"])).collect();
    assert_eq!(ends, [(&json!("ams1:p"), &json!("gva1:p")), (&json!("gva1:p"), &json!("ams1:p"))]);
    let hosts = network.controller.list("hosts");
    let hosts: Vec<_> = hosts.iter().map(|it| [&it["name"], &it["host"], &it["at_name"]]).collect();
    let expected = [
        [json!("login"), json!("login"), json!("ams1:p")],
        [json!("dtn"), json!("dtn"), json!("gva1:p")],
        [json!(null), json!("fd00::3"), json!("ams1:p")],
    ];
    assert_eq!(hosts, expected.each_ref().map(<[Value; 3]>::each_ref));
}

#[test]
fn paths_are_found_by_the_names_of_switches_and_hosts() {
    let network = network();
    for query in ["src=ams1&dst=gva1", "src=login&dst=dtn", "src=ams1&dst=fd00::2", "src=1&dst=gva1"] {
        let (status, answer) = ask(&network, query);
        assert_eq!((status, &answer["paths"][0]["nodes"]), (200, &json!(["ams1", "gva1"])), "{query}");
    }
    let (status, cut) = ask(&network, "src=ams1&dst=gva1&without=ams1:p");
    assert_eq!((status, &cut["paths"]), (200, &json!([])));
    for (query, why) in [
        ("src=ams1&dst=nowhere", "\"nowhere\" is no name or datapath id of a switch"),
        ("src=ams1&dst=gva2", "no switch gva2 is connected"),
        ("src=ams1&dst=gva1&without=gva1:nothing", "is no switch"),
    ] {
        let (status, problem) = ask(&network, query);
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(status == 404 && detail.contains(why), "{query}: {status} {detail}");
    }
}

#[test]
fn events_name_what_they_are_about() {
    let network = network();
    let texts = || network.controller.list_of_events();
    let has = |text: &str| texts().iter().any(|it| it == text);
    for text in ["switch ams1 (0000000000000001) joined with 2 ports", "link ams1:p > gva1:p is up"] {
        wait_for(|| has(text), || format!("{:?}", texts()));
    }
}

#[test]
fn metrics_have_names_by_id() {
    let network = network();
    let metrics = || network.controller.get("/metrics").1;
    for line in [
        r#"braid_switch_up{dpid="0000000000000001"} 1"#,
        r#"braid_switch_up{dpid="0000000000000003"} 0"#,
        r#"braid_switch_info{dpid="0000000000000002",name="gva1"} 1"#,
        r#"braid_port_info{port="0000000000000002:1",dpid="0000000000000002",name="gva1:p"} 1"#,
        &format!(r#"braid_build_info{{version="{}"}} 1"#, env!("CARGO_PKG_VERSION")),
    ] {
        wait_for(|| metrics().lines().any(|found| found == line), metrics);
    }
    let families = families_with_labels_as_listed(&metrics());
    assert!(families.contains("braid_port_info") && families.contains("braid_build_info"));
    let (_, totals) = network.controller.get("/metrics?totals=true");
    assert!(!totals.contains("braid_port_info") && totals.contains("process_open_fds"), "{totals}");
}
