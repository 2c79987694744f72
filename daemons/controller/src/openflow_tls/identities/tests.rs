//! Claims of certificates, pins, and what members of a cluster tell each other of them.

use std::fs;
use std::path::Path;

use super::file::parse;
use super::tables::MAX_PINS_OF_NAME;
use super::*;

const LISTED: &str = "[[switch]]\ncertificate = \"SW1\"\ndatapath_ids = [\"0000000000000001\", \"2\"]\n";

fn identities(listed: &str, pinned: Option<&Path>) -> SwitchIdentities {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), listed).expect("a file");
    SwitchIdentities::read(Some(file.path().to_owned()), pinned.map(Path::to_owned)).expect("valid")
}

fn check(identities: &SwitchIdentities, name: &str, dpid: u64) -> Result<(), String> {
    let names = [name.to_owned()];
    identities.check(&names, DatapathId(dpid)).map_err(|error| error.to_string())
}

fn join(identities: &SwitchIdentities, name: &str, dpid: u64) -> Result<(), String> {
    check(identities, name, dpid)?;
    identities.note_joined(&[name.to_owned()], DatapathId(dpid)).map_err(|error| error.to_string())
}

#[test]
fn a_listed_certificate_may_claim_its_ids_and_no_others() {
    let identities = identities(LISTED, None);
    assert_eq!(check(&identities, "sw1", 1), Ok(()));
    assert_eq!(check(&identities, "sw1", 2), Ok(()));
    assert!(check(&identities, "sw1", 3).expect_err("not its own").contains("--openflow-identities"));
    let refused = check(&identities, "sw2", 1).expect_err("of another");
    assert!(refused.contains("\"sw2\"") && refused.contains("\"sw1\""), "{refused}");
}

#[test]
fn a_certificate_named_as_a_datapath_id_may_claim_that_one() {
    let identities = identities("", None);
    assert_eq!(check(&identities, "00000000000000ab", 0xab), Ok(()));
    assert!(check(&identities, "00000000000000ab", 0xac).is_err());
    assert!(check(&identities, "ab", 0xab).is_err(), "sixteen digits, or it is a name");
}

#[test]
fn first_use_pins_an_id_and_the_pin_outlives_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let pins = folder.path().join("pins.toml");
    let first = identities(LISTED, Some(&pins));
    assert_eq!(join(&first, "sw3 id:4f-5e", 3), Ok(()));
    assert!(check(&first, "sw4", 3).expect_err("pinned").contains("--openflow-pins"));
    assert!(check(&first, "sw1", 4).is_err(), "listed certificates claim what is listed");
    let second = identities(LISTED, Some(&pins));
    assert_eq!(check(&second, "sw3 id:4f-5e", 3), Ok(()));
    assert!(check(&second, "sw4", 3).is_err());
    assert!(check(&second, "sw\n4", 5).is_err(), "nothing is written that would not read back");
}

#[test]
fn a_claim_pins_nothing_before_the_switch_has_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let pins = folder.path().join("pins.toml");
    let identities = identities("", Some(&pins));
    for dpid in 1..1_000 {
        assert_eq!(check(&identities, "greedy", dpid), Ok(()));
    }
    assert_eq!(join(&identities, "honest", 7), Ok(()));
    assert!(check(&identities, "greedy", 7).is_err());
    let joined = (100..1_000).filter(|dpid| join(&identities, "greedy", *dpid).is_ok()).count();
    assert_eq!(joined, MAX_PINS_OF_NAME);
}

#[test]
fn an_id_belongs_to_the_certificate_of_its_name_once_that_has_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let pinning = identities("", Some(&folder.path().join("pins.toml")));
    for identities in [pinning, identities("", None)] {
        assert_eq!(join(&identities, "0000000000000001", 1), Ok(()));
        assert!(check(&identities, "sw9", 1).is_err(), "while it is away, too");
        assert!(identities.check_without_certificate(DatapathId(1)).is_err());
        assert_eq!(join(&identities, "0000000000000001", 1), Ok(()));
    }
}

#[test]
fn a_certificate_that_is_listed_without_ids_may_claim_nothing() {
    let text = "[[switch]]\ncertificate = \"0000000000000001\"\ndatapath_ids = []\n";
    let folder = tempfile::tempdir().expect("a folder");
    let identities = identities(text, Some(&folder.path().join("pins.toml")));
    assert!(check(&identities, "0000000000000001", 1).expect_err("denied").contains("nothing"));
}

#[test]
fn pins_that_are_lost_do_not_free_what_they_gave_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let (pins, list) = (folder.path().join("pins.toml"), folder.path().join("list.toml"));
    fs::write(&list, "").expect("a file");
    let identities = SwitchIdentities::read(Some(list), Some(pins.clone())).expect("valid");
    assert_eq!(join(&identities, "sw3", 3), Ok(()));
    fs::remove_file(&pins).expect("a file");
    assert!(identities.reload().is_err());
    assert!(check(&identities, "sw4", 3).is_err());
}

#[test]
fn without_a_certificate_only_ids_without_an_owner_can_be_claimed() {
    let identities = identities(LISTED, None);
    assert!(identities.check_without_certificate(DatapathId(1)).is_err());
    assert_eq!(identities.check_without_certificate(DatapathId(9)), Ok(()));
}

#[test]
fn errors_of_the_file_name_the_line_or_the_switch() {
    let bad = parse("[[switch]]\ncertificat = \"a\"\ndatapath_ids = []").expect_err("unknown key");
    assert!(bad.starts_with("line "), "{bad}");
    let bad = parse("[[switch]]\ncertificate = \"a\"\ndatapath_ids = [\"xyz\"]").expect_err("no id");
    assert!(bad.contains("switch \"a\""), "{bad}");
}

#[test]
fn what_another_controller_has_pinned_is_pinned_here_unless_it_is_somebodys() {
    let folder = tempfile::tempdir().expect("a folder");
    let pins = folder.path().join("pins.toml");
    let own = identities(LISTED, Some(&pins));
    let owner =
        |certificate: &str, dpid| Owner { dpid: DatapathId(dpid), certificate: certificate.to_owned() };
    assert_eq!(join(&own, "sw4", 4), Ok(()));
    assert!(own.learn(&owner("sw3", 3)));
    assert!(!own.learn(&owner("sw3", 3)), "no news");
    assert!(!own.learn(&owner("sw3", 1)), "it is in the list");
    assert!(!own.learn(&owner("sw3", 4)), "it has an owner");
    assert!(!own.learn(&owner("sw\n5", 5)), "nothing is written that would not read back");
    assert!(own.learn(&owner("0000000000000006", 6)));
    assert!(own.check_without_certificate(DatapathId(6)).is_err());
    assert_eq!(own.owners(), [owner("sw3", 3), owner("sw4", 4), owner("0000000000000006", 6)].into());
    let again = identities(LISTED, Some(&pins));
    assert_eq!(check(&again, "sw3", 3), Ok(()));
    assert!(check(&again, "sw4", 3).is_err());
    assert!(!identities(LISTED, None).learn(&owner("sw3", 3)), "first use decides nothing here");
}

#[test]
fn an_id_that_became_anothers_is_not_given_to_a_switch_that_has_joined_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = identities(LISTED, Some(&folder.path().join("pins.toml")));
    assert_eq!(check(&own, "sw4", 3), Ok(()));
    assert!(own.learn(&Owner { dpid: DatapathId(3), certificate: "sw3".to_owned() }));
    assert!(own.note_joined(&["sw4".to_owned()], DatapathId(3)).is_err());
}
