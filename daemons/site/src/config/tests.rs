//! Site files: what is read, and what is said of mistakes.

use super::*;

const PEER: &str = "Ql8hsaSnSV9FNBrTmcrN9vSHTCu4QkrcDDBUbLAODFc=";

/// A folder with a key, and what a file in it gives.
fn read(text: &str) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    key_file::write_new(&folder.path().join("site.key"), &PrivateKey::new([1; 32])).unwrap();
    let path = folder.path().join("site.toml");
    std::fs::write(&path, text).unwrap();
    let prefix = format!("{}/", folder.path().display());
    Config::read(&path).map_err(|error| error.to_string().replace(&prefix, ""))
}

fn file() -> String {
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
    let dials: Vec<_> = config.peers[0].dials.iter().map(|it| (it.uplink, it.address.to_string())).collect();
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
    let address = "198.51.100.1:51820".parse().unwrap();
    assert_eq!(config.peers[0].dials, [Dial { uplink: 1, address }]);
}

#[test]
fn mistakes_are_named_with_file_line_and_what_was_meant() {
    let cases = [
        (
            "interface = \"wan2\"",
            "interfce = \"wan2\"",
            "site.toml:8: unknown field `interfce`, expected `interface` or `rate`; did you mean `interface`?",
        ),
        ("100Mbit", "100 cows", "site.toml:5: \"100 cows\" is not a rate as 100Mbit"),
        ("wan2", "wan1", "site.toml:8: wan1 is an uplink already"),
        (PEER, "AAAA", "site.toml:12: \"AAAA\" is not a public key, as `braid site keygen` prints it"),
        (
            "198.51.100.1:4000",
            "example.org",
            "site.toml:13: \"example.org\" is no address: give numbers, as 198.51.100.1:51820 or [2001:db8::1]:51820",
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
        "site.toml:14: networks are for routed sites; this one is bridged"
    );
    let own = PrivateKey::new([1; 32]).public().to_string();
    let wanted = "site.key: peer \"branch\" has this site's own key: make a key for each site";
    assert_eq!(read(&file().replace(PEER, &own)).unwrap_err(), wanted);
}

#[test]
fn all_mistakes_of_a_file_are_said_at_once() {
    let text = file().replace("100Mbit", "x").replace("10.2.0.0/16", "y").replace("wan2", "wan1");
    assert_eq!(read(&text).unwrap_err().lines().count(), 3);
}
