//! `braid cluster init`: what it makes is a configuration that controllers take, and nobody else reads its secrets.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use predicates::str::contains;
use support::{braid, text};

const MEMBERS: &str = "one=192.0.2.1,two=two.example.net,three=2001:db8::3";

fn init(folder: &Path, members: &str) -> assert_cmd::assert::Assert {
    let words = ["cluster", "init", "--members", members, "--switches", "1,a2"];
    braid().args(words).arg(folder).assert()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn each_member_gets_a_configuration_that_its_controller_takes() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("cluster");
    let said = init(&made, MEMBERS).success();
    let said = text(&said.get_output().stdout);
    for member in ["one", "two", "three"] {
        let own = made.join(member);
        let checked =
            braid().args(["controller", "check"]).arg(own.join("controller.toml")).assert().success();
        checked.stdout(contains("valid"));
        assert!(said.contains(&format!("--config {}/controller.toml", own.display())), "{said}");
        let etcd = fs::read_to_string(own.join("etcd.yaml")).unwrap();
        assert!(etcd.contains(&format!("cert-file: \"{}/{member}.pem\"", own.display())), "{etcd}");
        let peers =
            "one=https://192.0.2.1:2380,two=https://two.example.net:2380,three=https://[2001:db8::3]:2380";
        assert!(etcd.contains(peers), "{etcd}");
    }
    let ids = fs::read_to_string(made.join("one/identities.toml")).unwrap();
    assert!(ids.contains(r#"["0000000000000001", "00000000000000a2"]"#), "{ids}");
    assert!(said.contains("ssl:192.0.2.1:6653 ssl:two.example.net:6653 ssl:[2001:db8::3]:6653"), "{said}");
}

#[test]
fn only_the_owner_reads_what_it_makes() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("cluster");
    init(&made, MEMBERS).success();
    let all = files(&made);
    assert!(all.len() > 20);
    for file in all {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn files_for_another_folder_name_that_one() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("cluster");
    let words = ["cluster", "init", "--members", "a=a.example", "--switches", "1", "--target", "/etc/braid"];
    let said = braid().args(words).arg(&made).assert().success();
    said.stdout(contains("etcd --config-file /etc/braid/etcd.yaml"));
    let etcd = fs::read_to_string(made.join("a/etcd.yaml")).unwrap();
    assert!(etcd.contains("key-file: \"/etc/braid/a-key.pem\""), "{etcd}");
}

#[test]
fn a_folder_that_exists_is_left_alone_and_wrong_members_make_none() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), MEMBERS).code(2).stderr(contains("cannot make"));
    assert!(files(folder.path()).is_empty());
    let made = folder.path().join("cluster");
    for (members, why) in [
        ("one=192.0.2.1,one=192.0.2.2", "of its own"),
        ("one=192.0.2.1,two=192.0.2.1", "of its own"),
        ("one=0.0.0.0", "no name or address"),
        ("../one=192.0.2.1", "is no name"),
        ("switches=192.0.2.1", "another name"),
    ] {
        init(&made, members).code(2).stderr(contains(why));
        assert!(!made.exists(), "{members}");
    }
}
