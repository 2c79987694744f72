//! Site files: what is read, and what is said of mistakes.

use braid_tunnel::PathChoice;

use super::*;

pub(super) const PEER: &str = "Ql8hsaSnSV9FNBrTmcrN9vSHTCu4QkrcDDBUbLAODFc=";

/// A folder with a key, and what a file in it gives.
pub(super) fn read(text: &str) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    key_file::write_new(&folder.path().join("site.key"), &PrivateKey::new([1; 32])).unwrap();
    let path = folder.path().join("site.toml");
    std::fs::write(&path, text).unwrap();
    let prefix = format!("{}/", folder.path().display());
    Config::read(&path).map_err(|error| error.to_string().replace(&prefix, ""))
}

pub(super) fn file() -> String {
    format!(
        r#"private_key = "site.key"

[[uplink]]
interface = "wan1"
rate = "100Mbit"

[[uplink]]
interface = "wan2"

[[peer]]
name = "branch"
public_key = "{PEER}"
addresses = ["198.51.100.1:4000", "2001:db8::1"]
networks = ["10.2.0.0/16"]

[lan]
address = "10.1.0.1/24"
"#
    )
}

#[test]
fn a_file_is_read_and_each_uplink_dials_each_address() {
    let config = read(&file()).unwrap();
    let dials: Vec<_> = config.peers[0].dials.iter().map(|it| (it.uplink, it.to.to_string())).collect();
    let [one, two] = ["198.51.100.1:4000", "[2001:db8::1]:51820"].map(str::to_owned);
    assert_eq!(dials, [(0, one.clone()), (1, one), (0, two.clone()), (1, two)]);
    assert_eq!((config.port, config.lan.device.as_str()), (51_820, "braid0"));
    assert_eq!(config.status, PathBuf::from("/run/braid/site-braid0.sock"));
    assert_eq!(config.uplinks[0].rate, Some(BitsPerSec(100_000_000)));
}

#[test]
fn paths_name_an_uplink_and_an_address_each() {
    let text = file().replace(
        "addresses = [\"198.51.100.1:4000\", \"2001:db8::1\"]",
        "path = [{ uplink = \"wan2\", address = \"198.51.100.1\" }]",
    );
    let config = read(&text).unwrap();
    let to = Destination::Address("198.51.100.1:51820".parse().unwrap());
    assert_eq!(config.peers[0].dials, [DialConfig { uplink: 1, to }]);
    let named = read(&text.replace("198.51.100.1", "box.example.org:4000")).unwrap();
    let to = Destination::Name { host: "box.example.org".to_owned(), port: 4_000 };
    assert_eq!(named.peers[0].dials, [DialConfig { uplink: 1, to }]);
}

#[test]
fn mistakes_are_named_with_file_line_and_what_was_meant() {
    let cases = [
        (
            "interface = \"wan2\"",
            "interfce = \"wan2\"",
            "site.toml:8: unknown field `interfce`, expected one of `interface`, `rate`, `cost`; did you mean `interface`?",
        ),
        ("100Mbit", "100 cows", "site.toml:5: \"100 cows\" is not a rate as 100Mbit"),
        ("wan2", "wan1", "site.toml:8: wan1 is an uplink already"),
        (PEER, "AAAA", "site.toml:12: \"AAAA\" is not a public key, as `braid site keygen` prints it"),
        (
            "198.51.100.1:4000",
            "198.51.100",
            "site.toml:13: \"198.51.100\" is no address or name: give one as 198.51.100.1:51820, [2001:db8::1]:51820 or box.example.org",
        ),
        (
            "networks = [\"10.2.0.0/16\"]\n",
            "",
            "site.toml:10: the peer has no networks: name those behind it, as networks = [\"10.2.0.0/16\"]",
        ),
        (
            "10.1.0.1/24",
            "10.1.0.1",
            "site.toml:17: \"10.1.0.1\" is not an address with its length, as 10.1.0.1/24",
        ),
        (
            "\"site.key\"",
            "\"none.key\"",
            "none.key: there is no such file; `braid site keygen none.key` makes a key",
        ),
    ];
    for (right, wrong, wanted) in cases {
        assert_eq!(read(&file().replace(right, wrong)).unwrap_err(), wanted);
    }
    let bridged = file().replace("address = \"10.1", "bridge = \"br0\"\naddress = \"10.1");
    assert_eq!(
        read(&bridged).unwrap_err(),
        "site.toml:14: networks are for routed sites; this one carries Ethernet"
    );
    let port = file().replace("address = \"10.1", "ethernet = true\naddress = \"10.1");
    assert_eq!(read(&port).unwrap_err(), read(&bridged).unwrap_err());
    let lan = read(&port.replace("networks = [\"10.2.0.0/16\"]\n", "")).unwrap().lan;
    assert_eq!((lan.ethernet, lan.bridge), (true, None));
    assert_eq!(
        read(&port.replace("ethernet", "bridge = \"br0\"\nethernet")).unwrap_err().lines().next().unwrap(),
        "site.toml:14: networks are for routed sites; this one carries Ethernet"
    );
    let nat = |text: &str| read(&(text.to_owned() + "nat = true\n"));
    assert!(nat(&file()).unwrap().lan.nat && !read(&file()).unwrap().lan.nat);
    assert_eq!(
        nat(&file().replace("10.2.0.0/16", "0.0.0.0/0")).unwrap_err(),
        "site.toml:14: with nat = true, peers reach the Internet by this site: name the networks behind them"
    );
    let metrics = |address: &str| read(&format!("metrics = \"{address}\"\n{}", file()));
    assert_eq!(metrics("127.0.0.1:9468").unwrap().metrics, "127.0.0.1:9468".parse().ok());
    assert_eq!(
        metrics("9468").unwrap_err(),
        "site.toml:1: \"9468\" is not an address and port as 127.0.0.1:9468"
    );
    let own = PrivateKey::new([1; 32]).public().to_string();
    let wanted = "site.key: peer \"branch\" has this site's own key: make a key for each site";
    assert_eq!(read(&file().replace(PEER, &own)).unwrap_err(), wanted);
}

pub(super) const TRAFFIC: &str = r#"
[traffic]
urgent = "duplicate"

[[traffic.rule]]
protocol = "udp"
ports = [5060, "10000-20000"]
dscp = ["ef", 34]
paths = "quickest"

[[traffic.rule]]
protocol = 132
networks = ["10.2.9.0/24", "fd00::/8"]
paths = "all"
"#;

#[test]
fn rules_of_traffic_and_costs_are_read() {
    let config = read(&file()).unwrap();
    assert_eq!((config.traffic, config.uplinks[0].cost), (Traffic::default(), 0));
    let text = file().replace("\"wan2\"", "\"wan2\"\ncost = 10") + TRAFFIC;
    let config = read(&text).unwrap();
    assert_eq!(config.uplinks[1].cost, 10);
    assert_eq!(config.traffic.urgent, PathChoice::Duplicate);
    let [voice, other] = config.traffic.rules.as_slice() else { panic!("{:?}", config.traffic) };
    assert_eq!((voice.protocol, voice.dscp.as_slice()), (Some(17), [46, 34].as_slice()));
    assert_eq!(voice.ports, [5_060..=5_060, 10_000..=20_000]);
    assert_eq!((other.protocol, other.networks.len(), other.paths), (Some(132), 2, PathChoice::All));
}

#[test]
fn mistakes_in_traffic_are_named_with_what_was_meant() {
    let cases = [
        (
            "urgent = \"duplicate\"",
            "urgent = \"duplicte\"",
            "site.toml:20: \"duplicte\" are no paths: \"all\", \"quickest\" or \"duplicate\"; did you mean \"duplicate\"?",
        ),
        (
            "protocol = \"udp\"",
            "protocol = \"upd\"",
            "site.toml:23: \"upd\" is no protocol: give a name as \"udp\", or 0 to 255; did you mean \"udp\"?",
        ),
        (
            "[\"ef\", 34]",
            "[\"ef\", 64]",
            "site.toml:25: \"64\" is no dscp: give a name as \"cs1\", or 0 to 63",
        ),
        (
            "10000-20000",
            "20000-10000",
            "site.toml:24: \"20000-10000\" is neither a port, 0 to 65535, nor a range such as 5060-5070",
        ),
        ("fd00::/8", "fd00::/800", "site.toml:30: \"fd00::/800\" is not a network as 10.2.0.0/16"),
        (
            "networks = [\"10.2.9",
            "network = [\"10.2.9",
            "site.toml:30: unknown field `network`, expected one of `protocol`, `ports`, `networks`, `dscp`, `paths`; did you mean `networks`?",
        ),
        ("paths = \"all\"\n", "", "site.toml:28: missing field `paths`"),
    ];
    for (right, wrong, wanted) in cases {
        let text = file() + TRAFFIC;
        assert!(text.contains(right));
        assert_eq!(read(&text.replace(right, wrong)).unwrap_err(), wanted);
    }
    let text = file().replace("\"wan2\"", "\"wan2\"\ncost = 256");
    assert_eq!(read(&text).unwrap_err(), "site.toml:9: cost 256: a cost is 0 to 255");
}

#[test]
fn all_mistakes_of_a_file_are_said_at_once() {
    let text = file().replace("100Mbit", "x").replace("10.2.0.0/16", "y").replace("wan2", "wan1");
    assert_eq!(read(&text).unwrap_err().lines().count(), 3);
}
