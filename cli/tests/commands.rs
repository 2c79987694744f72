//! Help, versions and errors of the command as a whole.

mod support;

use predicates::str::{contains, starts_with};
use support::{braid, run, text};

#[test]
fn wrong_command_line_exits_with_2_and_says_why() {
    for arguments in [&["teleport"][..], &["openflow", "decode", "--frobnicate"], &["completion", "ksh"]] {
        braid().args(arguments).assert().code(2).stdout("").stderr(starts_with("braid: "));
    }
    braid().assert().code(2).stdout("").stderr(contains("Usage: braid"));
}

#[test]
fn help_and_version_are_data() {
    for arguments in [&["--help"][..], &["-h"], &["openflow", "decode", "--help"], &["help", "doctor"]] {
        braid().args(arguments).assert().success().stderr("").stdout(contains("Usage: braid"));
    }
    let version = format!("braid {}\n", env!("CARGO_PKG_VERSION"));
    braid().arg("--version").assert().success().stdout(version);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man1");
    braid().arg("man").arg(&dir).assert().success().stdout("");
    for command in commands(&[]) {
        let name = [&["braid".to_owned()], &command[..]].concat().join("-");
        let page = std::fs::read_to_string(dir.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{name}");
        assert!(page.contains(&format!("\n{} \\- ", name.replace('-', "\\-"))), "{name}");
    }
}

#[test]
fn manual_pages_without_a_folder_are_printed() {
    let output = run(&["man"]);
    let text = text(&output.stdout);
    let headings = text.lines().filter(|line| line.starts_with(".TH ")).count();
    assert_eq!(headings, commands(&[]).len());
}

#[test]
fn folder_that_cannot_be_made_is_named() {
    braid().args(["man", "/dev/null/man1"]).assert().code(1).stderr(starts_with("braid: /dev/null/man1: "));
}

/// Every command that the help lists, with its subcommands; the first is `braid` itself.
fn commands(path: &[String]) -> Vec<Vec<String>> {
    let output = braid().args(path).arg("--help").output().unwrap();
    let help = text(&output.stdout);
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    // Descriptions go on in lines that are further in.
    let names = listed.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let below = names.flat_map(|name| commands(&[path, &[name.to_owned()]].concat()));
    std::iter::once(path.to_vec()).chain(below).collect()
}
