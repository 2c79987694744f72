//! A mirror of a database's bridges, ports, interfaces and queues.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};
use serde_json::{Map, Value};

use super::bridge::{BridgeSettings, ControllerRow, port_of};
use super::json_rpc::{BACKOFF_MARK, BFD_MARK};
use super::plan::{BFD_INTERVAL, BfdState, Owner};

/// The kinds of queues whose `max-rate` is that of their port.
const SHAPERS: [&str; 2] = ["linux-htb", "linux-hfsc"];

/// The rows of a table by their UUIDs.
type Rows<T> = BTreeMap<String, T>;

/// What a database says of its switches.
#[derive(Debug, Default)]
pub(super) struct Tables {
    bridges: Rows<Bridge>,
    ports: Rows<Port>,
    /// The rates to which queues shape what leaves ports.
    shapers: Rows<Option<BitsPerSec>>,
    interfaces: Rows<Interface>,
    controllers: Rows<ControllerRow>,
}

#[derive(Debug)]
struct Bridge {
    dpid: Option<DatapathId>,
    ports: Vec<String>,
    controllers: Vec<String>,
    settings: BridgeSettings,
}

#[derive(Debug)]
struct Port {
    interfaces: Vec<String>,
    /// The queues before it; one at most.
    shaper: Vec<String>,
}

#[derive(Debug)]
struct Interface {
    name: String,
    number: Option<PortNo>,
    bfd: BfdState,
}

/// A bridge that is a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FoundBridge<'a> {
    pub(super) dpid: DatapathId,
    pub(super) settings: &'a BridgeSettings,
    pub(super) controllers: Vec<FoundController<'a>>,
}

/// A controller of a bridge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FoundController<'a> {
    /// The UUID of its row.
    pub(super) uuid: &'a str,
    pub(super) row: &'a ControllerRow,
}

/// An interface that is a port of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FoundPort<'a> {
    pub(super) at: SwitchPort,
    /// The UUID of the interface's row.
    pub(super) interface: &'a str,
    pub(super) name: &'a str,
    pub(super) bfd: BfdState,
    /// The rate to which what leaves it is shaped.
    pub(super) shaped_to: Option<BitsPerSec>,
}

impl Tables {
    /// Takes in the initial content or changes. RFC 7047 §4.1.6.
    pub(super) fn update(&mut self, updates: &Value) {
        take(&mut self.bridges, updates.get("Bridge"), bridge);
        take(&mut self.ports, updates.get("Port"), port);
        take(&mut self.shapers, updates.get("QoS"), shaper);
        take(&mut self.interfaces, updates.get("Interface"), interface);
        take(&mut self.controllers, updates.get("Controller"), controller);
    }

    /// The bridges that have datapath ids.
    pub(super) fn bridges(&self) -> impl Iterator<Item = FoundBridge<'_>> {
        self.bridges.values().filter_map(|bridge| {
            let controllers = bridge.controllers.iter().filter_map(|uuid| {
                let row = self.controllers.get(uuid)?;
                Some(FoundController { uuid, row })
            });
            Some(FoundBridge {
                dpid: bridge.dpid?,
                settings: &bridge.settings,
                controllers: controllers.collect(),
            })
        })
    }

    /// The ports of all bridges.
    pub(super) fn ports(&self) -> impl Iterator<Item = FoundPort<'_>> {
        let with_dpid = self.bridges.values().filter_map(|bridge| Some((bridge.dpid?, &bridge.ports)));
        let interfaces = with_dpid.flat_map(|(dpid, ports)| {
            let ports = ports.iter().filter_map(|port| self.ports.get(port));
            ports.flat_map(move |port| port.interfaces.iter().map(move |interface| (dpid, port, interface)))
        });
        interfaces.filter_map(|(dpid, port, interface)| {
            let found = self.interfaces.get(interface)?;
            let at = SwitchPort::new(dpid, found.number?);
            let shaped_to = port.shaper.iter().find_map(|uuid| *self.shapers.get(uuid)?);
            Some(FoundPort { at, interface, name: &found.name, bfd: found.bfd, shaped_to })
        })
    }
}

/// Takes in the changes of one table: a row without `new` was deleted.
fn take<T>(rows: &mut Rows<T>, changes: Option<&Value>, read: impl Fn(&Map<String, Value>) -> T) {
    for (uuid, change) in changes.and_then(Value::as_object).into_iter().flatten() {
        match change.get("new").and_then(Value::as_object) {
            Some(row) => _ = rows.insert(uuid.clone(), read(row)),
            None => _ = rows.remove(uuid),
        }
    }
}

fn bridge(row: &Map<String, Value>) -> Bridge {
    let dpid = row.get("datapath_id").and_then(Value::as_str).and_then(|text| text.parse().ok());
    let is_on = |column: &str| row.get(column).and_then(Value::as_bool).unwrap_or(false);
    let settings = BridgeSettings {
        name: texts(row.get("name")).concat(),
        is_secure: texts(row.get("fail_mode")) == ["secure"],
        protocols: texts(row.get("protocols")).into_iter().map(str::to_owned).collect(),
        has_spanning_tree: is_on("stp_enable"),
        has_rapid_spanning_tree: is_on("rstp_enable"),
    };
    let (ports, controllers) = (uuids(row.get("ports")), uuids(row.get("controller")));
    Bridge { dpid, ports, controllers, settings }
}

fn controller(row: &Map<String, Value>) -> ControllerRow {
    ControllerRow {
        port: row.get("target").and_then(Value::as_str).and_then(port_of),
        max_backoff: row.get("max_backoff").and_then(Value::as_u64),
        is_ours: map(row.get("external_ids")).contains_key(BACKOFF_MARK),
    }
}

fn port(row: &Map<String, Value>) -> Port {
    Port { interfaces: uuids(row.get("interfaces")), shaper: uuids(row.get("qos")) }
}

/// The rate of queues that have one. ovs-vswitchd.conf.db(5), "QoS Table".
fn shaper(row: &Map<String, Value>) -> Option<BitsPerSec> {
    let kind = row.get("type").and_then(Value::as_str).filter(|kind| SHAPERS.contains(kind));
    let rate = kind.and(map(row.get("other_config")).get("max-rate").copied());
    rate.and_then(|text| text.parse().ok()).filter(|rate| *rate > 0).map(BitsPerSec)
}

fn interface(row: &Map<String, Value>) -> Interface {
    let number = row.get("ofport").and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let (bfd, status) = (map(row.get("bfd")), map(row.get("bfd_status")));
    let says = |map: &BTreeMap<&str, &str>, key: &str, value: &str| map.get(key) == Some(&value);
    let is_ours = map(row.get("external_ids")).contains_key(BFD_MARK);
    let owner = match says(&bfd, "enable", "true") {
        false => Owner::Nobody,
        true if is_ours => Owner::Braid,
        true => Owner::Other,
    };
    let number_in = |map: &BTreeMap<&str, &str>, key: &str| map.get(key).and_then(|text| text.parse().ok());
    let interval = number_in(&bfd, "min_rx").map_or(BFD_INTERVAL, Duration::from_millis);
    let flaps = number_in(&status, "flap_count").unwrap_or(0);
    let bfd = BfdState { owner, is_up: says(&status, "state", "up"), flaps, interval };
    let name = texts(row.get("name")).concat();
    Interface { name, number: number.map(PortNo).filter(|port| port.is_physical()), bfd }
}

/// A set of UUIDs; one alone stands for itself. RFC 7047 §5.1.
fn uuids(value: Option<&Value>) -> Vec<String> {
    let Some([kind, content]) = value.and_then(Value::as_array).map(Vec::as_slice) else { return Vec::new() };
    match (kind.as_str(), content) {
        (Some("uuid"), Value::String(uuid)) => vec![uuid.clone()],
        (Some("set"), Value::Array(items)) => items.iter().flat_map(|item| uuids(Some(item))).collect(),
        _ => Vec::new(),
    }
}

/// A set of texts; one alone stands for itself.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(set)) => match set.as_slice() {
            [Value::String(kind), Value::Array(items)] if kind == "set" => {
                items.iter().filter_map(Value::as_str).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A map of texts.
fn map(value: Option<&Value>) -> BTreeMap<&str, &str> {
    let Some([Value::String(kind), Value::Array(pairs)]) = value.and_then(Value::as_array).map(Vec::as_slice)
    else {
        return BTreeMap::new();
    };
    let pairs = pairs.iter().filter(|_| kind == "map").filter_map(|pair| match pair.as_array()?.as_slice() {
        [key, value] => Some((key.as_str()?, value.as_str()?)),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn uuid(name: &str) -> Value {
        json!(["uuid", name])
    }

    fn initial() -> Tables {
        let mut tables = Tables::default();
        tables.update(&json!({
            "Bridge": {
                "b1": { "new": { "datapath_id": "00000000000000a1", "ports": ["set", [uuid("p1"), uuid("p2")]] } },
                "b2": { "new": { "datapath_id": ["set", []], "ports": uuid("p3") } },
            },
            "Port": {
                "p1": { "new": { "interfaces": uuid("i1") } },
                "p2": { "new": { "interfaces": uuid("i2") } },
                "p3": { "new": { "interfaces": uuid("i3") } },
            },
            "Interface": {
                "i1": { "new": { "name": "a", "ofport": 1, "bfd": ["map", []], "bfd_status": ["map", []] } },
                "i2": { "new": { "name": "b", "ofport": 65534, "bfd": ["map", [["enable", "true"]]] } },
                "i3": { "new": { "name": "c", "ofport": ["set", []] } },
            },
        }));
        tables
    }

    #[test]
    fn ports_are_found_by_their_bridges_datapath_ids_and_openflow_numbers() {
        let tables = initial();
        let found: Vec<_> = tables.ports().map(|port| (port.at.to_string(), port.interface)).collect();
        let at = SwitchPort::new(DatapathId(0xa1), PortNo(1)).to_string();
        assert!(found.contains(&(at, "i1")), "{found:?}");
    }

    #[test]
    fn changes_replace_rows_and_what_is_deleted_is_gone() {
        let mut tables = initial();
        tables.update(&json!({ "Interface": { "i1": { "old": {}, "new": {
            "name": "a", "ofport": 1, "bfd": ["map", [["enable", "true"], ["min_rx", "50"]]],
            "bfd_status": ["map", [["state", "up"], ["flap_count", "3"]]], "external_ids": ["map", [["braid-bfd", "true"]]],
        } } } }));
        let find = |tables: &Tables| tables.ports().find(|port| port.interface == "i1").map(|port| port.bfd);
        assert_eq!(
            find(&tables),
            Some(BfdState {
                owner: Owner::Braid,
                is_up: true,
                flaps: 3,
                interval: Duration::from_millis(50)
            })
        );
        tables.update(&json!({ "Interface": { "i1": { "old": {} } } }));
        assert_eq!(find(&tables), None);
    }

    #[test]
    fn ports_come_with_the_rates_of_their_queues() {
        let mut tables = initial();
        let mut rate_with = |kind: &str, options: Value| {
            tables.update(&json!({
                "Port": { "p1": { "new": { "interfaces": uuid("i1"), "qos": uuid("q1") } } },
                "QoS": { "q1": { "new": { "type": kind, "other_config": ["map", options] } } },
            }));
            tables.ports().find(|port| port.interface == "i1").and_then(|port| port.shaped_to)
        };
        let rate = |rate: &str| json!([["max-rate", rate]]);
        let found = ["linux-htb", "linux-hfsc", "linux-codel"].map(|kind| rate_with(kind, rate("20000000")));
        assert_eq!(found, [Some(BitsPerSec(20_000_000)), Some(BitsPerSec(20_000_000)), None]);
        let useless = [rate("0"), rate("-1"), rate("fast"), json!([]), json!([["max-rate"]])];
        assert_eq!(useless.map(|options| rate_with("linux-htb", options)), [None; 5]);
        assert_eq!(rate_with("linux-htb", rate("7")), Some(BitsPerSec(7)));
        tables.update(&json!({ "QoS": { "q1": { "old": {} } } }));
        assert_eq!(tables.ports().find_map(|port| port.shaped_to), None);
    }

    #[test]
    fn bridges_come_with_their_settings_and_controllers() {
        let mut tables = initial();
        tables.update(&json!({
            "Bridge": { "b1": { "new": {
                "name": "br0", "datapath_id": "00000000000000a1", "ports": ["set", []], "controller": uuid("c1"),
                "fail_mode": "secure", "protocols": ["set", ["OpenFlow10", "OpenFlow13"]], "stp_enable": true,
            } } },
            "Controller": {
                "c1": { "new": { "target": "ssl:192.0.2.1:6653", "max_backoff": 1000,
                                 "external_ids": ["map", [["braid-max-backoff", "true"]]] } },
                "c2": { "new": { "target": "ptcp:6654", "max_backoff": ["set", []] } },
            },
        }));
        let found: Vec<_> = tables.bridges().collect();
        let [FoundBridge { dpid: DatapathId(0xa1), settings, controllers }] = found.as_slice() else {
            panic!("{found:?}")
        };
        let expected = BridgeSettings {
            name: "br0".to_owned(),
            is_secure: true,
            protocols: vec!["OpenFlow10".to_owned(), "OpenFlow13".to_owned()],
            has_spanning_tree: true,
            has_rapid_spanning_tree: false,
        };
        assert_eq!(*settings, &expected);
        let row = ControllerRow { port: Some(6653), max_backoff: Some(1_000), is_ours: true };
        assert_eq!(controllers.as_slice(), [FoundController { uuid: "c1", row: &row }]);
    }

    #[test]
    fn malformed_content_is_left_out() {
        let mut tables = Tables::default();
        for junk in [
            json!(null),
            json!([]),
            json!({ "Bridge": 7, "Port": { "p": null }, "Interface": { "i": { "new": 1 } } }),
            json!({ "Bridge": { "b": { "new": { "datapath_id": "00000000000000a1", "name": 1, "protocols": ["set"],
                                                "controller": ["uuid"] } } },
                    "Controller": { "c": { "new": { "target": 1, "max_backoff": -1 } } } }),
        ] {
            tables.update(&junk);
        }
        assert_eq!(tables.ports().count(), 0);
    }
}
