//! Completion in shells: names that only the running program knows.

mod support;

use std::fs;
use std::process::Command;

use serde_json::json;
use support::controller::answer_by_path;
use support::{braid, run, text};

/// What bash would be offered for the last of these words.
fn candidates(words: &[&str]) -> Vec<String> {
    let mut command = braid();
    command.env("BRAID_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let output = command.args(["--", "braid"]).args(words).output().expect("braid starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn commands_options_and_choices_complete() {
    assert_eq!(candidates(&["trans"]), ["transfers"]);
    assert_eq!(candidates(&["schema", "s"]), ["scenario", "study", "site"]);
    assert!(candidates(&["transfers", "--w"]).contains(&"--watch".to_owned()));
}

#[test]
fn presets_and_generators_complete() {
    assert_eq!(candidates(&["sim", "run", "--preset", "fct"]), ["fct-workload"]);
    assert_eq!(candidates(&["topology", "generate", "huang"]), ["huang-a", "huang-b"]);
    assert_eq!(candidates(&["paths", "--topology", "fat"]), ["fattree:"]);
}

#[test]
fn files_of_scenarios_and_networks_complete() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["net-one.graphml", "net-two.json", "net-three.yaml", "net-four.txt"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let typed = folder.path().join("net").display().to_string();
    let offered = |words: &[&str]| {
        let mut all: Vec<_> = candidates(&[words, &[&typed]].concat())
            .iter()
            .map(|path| path.rsplit('-').next().unwrap_or_default().to_owned())
            .collect();
        all.sort();
        all
    };
    assert_eq!(offered(&["lab", "run"]), ["three.yaml"]);
    assert_eq!(offered(&["sim", "run", "--network"]), ["one.graphml", "three.yaml", "two.json"]);
}

#[test]
fn switches_and_hosts_of_a_network_complete() {
    let offered = candidates(&["paths", "--topology", "fattree:4", "h1"]);
    assert!(
        offered.iter().any(|name| name == "h16") && !offered.iter().any(|name| name == "h2"),
        "{offered:?}"
    );
}

#[test]
fn switches_and_hosts_of_a_controller_complete() {
    let [at, mac] = [json!({ "dpid": "000000000000002a", "port": 1 }), json!("02:00:00:00:00:01")];
    let host = json!({ "mac": mac, "name": "gva", "at": at, "addresses": ["10.0.0.1"], "last_seen": 0 });
    let body = |name: &str, items: serde_json::Value| {
        let body = json!({ "schema": "braid/v1", "now": 0, name: items });
        (format!("/api/v1/{name}"), body.to_string())
    };
    let switch = json!({ "dpid": "000000000000002a", "role": "master", "name": "geneva", "ports": [] });
    let url = answer_by_path(vec![body("switches", json!([switch])), body("hosts", json!([host]))]);
    assert_eq!(candidates(&["paths", "--controller", &url, "g"]), ["geneva", "gva"]);
}

#[test]
fn a_controller_that_does_not_answer_completes_nothing() {
    assert_eq!(candidates(&["paths", "--controller", "http://127.0.0.1:9", "x"]), [""; 0]);
}

#[test]
fn bash_completes_by_the_script_that_is_printed() {
    let script = text(&run(&["completion", "bash"]).stdout);
    let line = "COMP_WORDS=(braid sim run --preset fct); COMP_CWORD=4; _clap_complete_braid braid fct --preset; \
                printf '%s' \"${COMPREPLY[*]}\"";
    let folder = assert_cmd::cargo::cargo_bin!("braid").parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash").args(["-c", &format!("{script}\n{line}")]).env("PATH", path).output();
    assert_eq!(text(&output.expect("bash starts").stdout), "fct-workload");
}

#[test]
fn scripts_of_each_shell_ask_braid() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&run(&["completion", shell]).stdout);
        assert!(script.contains("BRAID_COMPLETE") && script.contains("braid"), "{shell}: {script}");
    }
    let zsh = text(&run(&["completion", "zsh"]).stdout);
    assert!(zsh.starts_with("#compdef braid\n") && zsh.contains("$funcstack[1]"), "{zsh}");
}
