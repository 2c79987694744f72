//! `braid policy`, and `--policy` of the controller.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use predicates::prelude::*;
use tempfile::TempDir;

const POLICY: &str = "[[rule]]\nname = \"bulk\"\nports = [22]\nkind = \"single\"\n";

fn braid() -> assert_cmd::Command {
    assert_cmd::Command::cargo_bin("braid").expect("the program")
}

/// A controller of these tests alone; ended when dropped.
struct Controller {
    child: Child,
    http: String,
}

impl Controller {
    fn start(policy: &std::path::Path) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("braid"))
            .args(["controller", "run", "--openflow", "127.0.0.1:0", "--http", "127.0.0.1:0", "--policy"])
            .arg(policy)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a controller");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let ready: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        Self { child, http: ready["http"].as_str().expect("an address").to_owned() }
    }

    fn show(&self) -> String {
        let shown = braid().args(["policy", "show", "--controller", &self.http]).output().expect("an answer");
        assert!(shown.status.success(), "{shown:?}");
        String::from_utf8(shown.stdout).expect("text")
    }

    /// Shows until there is `text`.
    fn wait_for(&self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let shown = self.show();
            if shown.contains(text) {
                return shown;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "still {shown}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn hang_up(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().expect("kill").success());
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn mistakes_are_told_with_file_line_column_and_field() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("policy.toml");
    fs::write(&file, POLICY).unwrap();
    braid().args(["policy", "check"]).arg(&file).assert().success().stdout(predicate::str::contains("ok"));
    fs::write(&file, "[[rule]]\nname = \"bulk\"\nk = 0\npaths = \"best\"\n").unwrap();
    let mistakes = || {
        predicate::str::contains("policy.toml:3:5: rule[0].k: 0 is not from 1 to 64")
            .and(predicate::str::contains("policy.toml:4:9: rule[0].paths: "))
    };
    braid().args(["policy", "check"]).arg(&file).assert().code(2).stderr(mistakes());
    braid().args(["controller", "run", "--policy"]).arg(&file).assert().code(2).stderr(mistakes());
    braid().args(["policy", "check", "/nowhere"]).assert().code(3);
}

#[test]
fn a_hangup_reads_the_file_again_and_keeps_the_last_good_one() {
    let folder = TempDir::new().unwrap();
    let [file, other] = ["policy.toml", "other.toml"].map(|name| folder.path().join(name));
    fs::write(&file, POLICY).unwrap();
    let controller = Controller::start(&file);
    controller.wait_for("bulk");
    fs::write(&other, POLICY.replace("bulk", "loaded")).unwrap();
    braid().args(["policy", "load", "--controller", &controller.http]).arg(&other).assert().success();
    assert!(controller.show().contains("loaded"));
    fs::write(&file, "k = 0").unwrap();
    controller.hang_up();
    fs::write(&other, POLICY.replace("bulk", "again")).unwrap();
    braid().args(["policy", "load", "--controller", &controller.http]).arg(&other).assert().success();
    assert!(controller.show().contains("again"), "it goes on after a file with mistakes");
    fs::write(&file, POLICY.replace("bulk", "mended")).unwrap();
    controller.hang_up();
    assert!(controller.wait_for("mended").contains("single"));
}
