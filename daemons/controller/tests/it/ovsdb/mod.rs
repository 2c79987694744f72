//! Databases of Open vSwitch beside a network of two linked switches: what is set in them, by whom, and what is said of them.

mod fake;
mod server;

use std::time::Duration;

use braid_controller::{Config, OvsdbConfig, SwitchIdentities};
use serde_json::{Value, json};

use crate::network::Network;
use crate::openflow_tls::{LOOPBACK, Pki};
use crate::support::{config, wait_for};
use fake::{FakeDatabase, Session};
use server::Server;

/// The capacity of a link of which nobody says anything.
const UNKNOWN_SPEED: u64 = 10_000_000_000;

/// A controller of this database.
fn config_of(database: &str) -> Config {
    let databases = vec![database.parse().expect("an address")];
    let ovsdb = OvsdbConfig { databases, max_backoff: Some(Duration::from_secs(1)) };
    Config { ovsdb, ..config(LOOPBACK, LOOPBACK, None) }
}

/// Alarms about bridges: of which switch, and why.
fn alarms(network: &Network) -> Vec<(String, String)> {
    let text = |alarm: &Value, field: &str| alarm[field].as_str().unwrap_or_default().to_owned();
    let all = network.controller.list("alarms");
    let of_bridges = all.iter().filter(|alarm| alarm["kind"] == "unsuitable_bridge");
    of_bridges.map(|alarm| (text(alarm, "dpid"), text(alarm, "why"))).collect()
}

/// The capacities of the links, of those that leave the first switch first.
fn capacities(network: &Network) -> Vec<u64> {
    let capacity = |link: &Value| link["capacity_bps"].as_u64().unwrap_or_default();
    network.controller.list("links").iter().map(capacity).collect()
}

/// The operations of the next transaction that set columns: the table, the row and the columns.
fn updates(session: &mut Session) -> Vec<(String, String, Value)> {
    let request = session.request("transact");
    let operations = request["params"].as_array().expect("operations").iter();
    let updates = operations.filter(|operation| operation["op"] == "update").map(|operation| {
        let text =
            |pointer| operation.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        (text("/table"), text("/where/0/2/1"), operation["row"].clone())
    });
    let updates = updates.collect();
    session.say(&json!({ "id": request["id"], "result": [], "error": null }));
    updates
}

#[test]
fn what_is_wanted_is_asked_for_once_a_connection() {
    let database = FakeDatabase::listen();
    let network = Network::start_as(config_of(&database.address()));
    let port = network.controller.openflow.port();
    let bfd = json!({ "bfd": ["map", [["enable", "true"], ["min_rx", "25"], ["min_tx", "25"]]] });
    let pause = json!({ "max_backoff": 1_000 });
    let set = |table: &str, row: &str, columns: &Value| (table.to_owned(), row.to_owned(), columns.clone());
    let mut session = database.accept(port);
    let mut both = updates(&mut session);
    both.sort_by_key(|(_, row, _)| row.clone());
    assert_eq!(both, [set("Interface", "i1", &bfd), set("Interface", "i2", &bfd)]);
    assert_eq!(updates(&mut session), [set("Controller", "c1", &pause)]);
    // A question in pieces is answered, a refusal is no end, and nothing is asked for twice.
    session.say(&json!({ "id": 99, "result": null, "error": "not allowed" }));
    session.say_in_pieces(r#"{"id":"echo","method":"echo","params":["there?"]}"#);
    assert_eq!(session.next()["result"], json!(["there?"]));
    drop(session);
    // BFD has its time to come up, whatever the connection does.
    assert_eq!(updates(&mut database.accept(port)), [set("Controller", "c1", &pause)]);
    wait_for(|| !alarms(&network).is_empty(), || "no alarm".to_owned());
    assert_eq!(alarms(&network).len(), 1, "of the bridge without fail_mode");
}

#[test]
fn a_database_that_says_nothing_is_asked_and_then_left() {
    let database = FakeDatabase::listen();
    let network = Network::start_as(config_of(&database.address()));
    let mut session = database.accept_silently();
    session.request("monitor");
    session.request("echo");
    assert_eq!(session.next_or_end(), None, "it did not answer that either");
    // The network is served meanwhile, and the next connection is as good as the first.
    let port = network.controller.openflow.port();
    assert_eq!(updates(&mut database.accept(port)).len(), 2);
}

#[test]
fn a_server_of_open_vswitch_is_set_up_over_a_socket_and_over_tls() {
    let pki = Pki::new();
    let Some(server) = Server::start(&pki.issue("database")) else { return };
    for address in [server.unix(), server.ssl()] {
        let pins = pki.file("pins.toml", "");
        let identities = SwitchIdentities::read(None, Some(pins)).expect("valid");
        let openflow_tls = Some(pki.openflow_tls(false, identities));
        let network = Network::start_as(Config { openflow_tls, ..config_of(&address) });
        server.add_bridges(network.controller.openflow.port());
        wait_for(|| server.has_bfd("p1") && server.has_bfd("p2"), || format!("{address}: no BFD"));
        wait_for(|| server.backoffs() == ["1000", "1000"], || format!("{address}: {:?}", server.backoffs()));
        wait_for(|| !alarms(&network).is_empty(), || format!("{address}: no alarm"));
        let [(dpid, why)] = &alarms(&network)[..] else { panic!("{:?}", alarms(&network)) };
        assert_eq!(dpid, "0000000000000002");
        assert!(why.contains("ovs-vsctl set bridge br2 fail_mode=secure"), "{why}");
        server.shape("p1", 20_000_000);
        let shaped = || capacities(&network) == [20_000_000, UNKNOWN_SPEED];
        wait_for(shaped, || format!("{address}: {:?}", capacities(&network)));
        server.remove_bridges();
    }
}

#[test]
fn a_database_speaks_only_for_bridges_that_its_certificate_may_claim() {
    let pki = Pki::new();
    let Some(server) = Server::start(&pki.issue("0000000000000001")) else { return };
    let identities = SwitchIdentities::read(None, None).expect("valid");
    let openflow_tls = Some(pki.openflow_tls(false, identities));
    let network = Network::start_as(Config { openflow_tls, ..config_of(&server.ssl()) });
    server.add_bridges(network.controller.openflow.port());
    wait_for(|| server.backoffs() == ["1000", "[]"], || format!("{:?}", server.backoffs()));
    assert!(!server.has_bfd("p1") && !server.has_bfd("p2"), "BFD has two ends");
    assert_eq!(alarms(&network), [], "the second bridge is none of its own");
}

#[test]
fn a_database_over_tls_without_certificates_is_refused_at_the_start() {
    let refused = config_of("ssl:127.0.0.1:6640").check().map_err(|error| error.to_string());
    assert!(refused.is_err_and(|error| error.contains("ssl:127.0.0.1:6640 needs certificates")));
}
