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

/// A rule as a controller tells it.
fn rule(table: u8, name: Option<&str>, purpose: &str, kind: RuleKind) -> Rule {
    Rule {
        table,
        table_name: name.map(str::to_owned),
        priority: 50,
        matching: "tcp,ip_dst=10.0.0.2".to_owned(),
        actions: "output:3".to_owned(),
        packets: Some(1_200),
        bytes: Some(1_500_000),
        age_seconds: 90,
        cookie: "0x0000000000000005".to_owned(),
        kind,
        purpose: purpose.to_owned(),
        stream: None,
        transfer: None,
        reverse: None,
        label: None,
        path: Vec::new(),
        path_names: Vec::new(),
    }
}

#[test]
fn rules_of_a_switch_are_shown_with_their_purpose_and_filtered() {
    let foreign = Rule { packets: None, bytes: None, ..rule(9, None, "foreign", RuleKind::Foreign) };
    let rules = [rule(1, Some("stream"), "stream 7 of transfer 2 (forward)", RuleKind::Stream), foreign];
    let body = json!({
        "schema": "braid/v1", "now": 0, "dpid": DatapathId(1), "name": null, "rules": rules, "truncated": true,
    });
    let shown = |more: &[&str]| {
        let url = answer_with("200 OK", body.to_string());
        run(&[&["switches", "rules", "west coast", "--controller", &url], more].concat())
    };
    let output = shown(&[]);
    assert_eq!(
        text(&output.stdout),
        "\
TABLE     PRIORITY  PACKETS  BYTES   AGE         PURPOSE                           MATCH                ACTIONS
1 stream  50        1200     1.5 MB  1 min 30 s  stream 7 of transfer 2 (forward)  tcp,ip_dst=10.0.0.2  output:3
9         50        -        -       1 min 30 s  foreign                           tcp,ip_dst=10.0.0.2  output:3
"
    );
    assert!(text(&output.stderr).contains("more rules than these 2"), "{output:?}");
    let output = shown(&["--filter", "kind=foreign"]);
    assert_eq!(text(&output.stdout).lines().count(), 2, "{output:?}");
    let listed = &lines(&shown(&["--json", "--filter", "kind=stream", "--table", "1"]))[0];
    assert_eq!(listed["rules"].as_array().map(Vec::len), Some(1));
}
