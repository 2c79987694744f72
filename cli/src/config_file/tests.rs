//! Tests of options from files.

use std::fs;

use clap::{CommandFactory, Parser};
use tempfile::TempDir;

use super::*;

#[derive(Parser)]
#[command(name = "braid")]
struct Root {
    #[command(subcommand)]
    _daemon: Daemon,
}

#[derive(clap::Subcommand)]
enum Daemon {
    Run(Options),
}

#[derive(clap::Args)]
struct Options {
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[arg(long, default_value = "127.0.0.1:1", env = "BRAID_TEST_LISTEN_ON")]
    listen_on: std::net::SocketAddr,
    #[arg(long)]
    trusted: bool,
    #[arg(long = "port", required = true)]
    ports: Vec<String>,
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    #[arg(long, default_value_t = 8)]
    paths: u8,
    #[arg(long)]
    some_fd: Option<i32>,
}

struct File(TempDir, PathBuf);

fn file(text: &str) -> File {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("daemon.toml");
    fs::write(&path, text).expect("a file");
    File(folder, path)
}

fn expanded(file: &File, more: &[&str]) -> Result<Vec<String>, String> {
    let path = file.1.display().to_string();
    let line = ["braid", "run", "--config", &path].into_iter().chain(more.iter().copied());
    let arguments = expand(&Root::command(), line.map(OsString::from).collect());
    let arguments = arguments.map_err(|error| error.to_string().replace(&path, "FILE"))?;
    assert_eq!(arguments.file.as_ref(), Some(&file.1));
    let text = arguments.all.into_iter().map(|it| it.into_string().expect("text"));
    Ok(text.skip(4 + more.len()).collect())
}

#[test]
fn each_key_becomes_its_option() {
    let file = file(
        "listen_on = \"192.0.2.1:7\"\ntrusted = true\nport = [\"eth0\", \"eth1@5Mbit\"]\npaths = 0x10\n",
    );
    let expected = ["--listen-on=192.0.2.1:7", "--trusted", "--port=eth0", "--port=eth1@5Mbit", "--paths=16"];
    assert_eq!(expanded(&file, &[]), Ok(expected.map(String::from).to_vec()));
}

#[test]
fn a_flag_that_is_false_and_an_empty_list_add_nothing() {
    assert_eq!(expanded(&file("trusted = false\nport = []\n"), &[]), Ok(Vec::new()));
}

#[test]
fn the_command_line_comes_before_the_file() {
    let file = file("paths = 4\nport = [\"eth0\"]\n");
    assert_eq!(expanded(&file, &["--paths", "2"]), Ok(vec!["--port=eth0".to_owned()]));
}

#[test]
fn files_are_found_beside_the_configuration() {
    let file = file("certificate = \"own.pem\"\nkey = \"/secret/own.key\"\n");
    let own = file.0.path().join("own.pem").display().to_string();
    let expected = vec![format!("--certificate={own}"), "--key=/secret/own.key".to_owned()];
    assert_eq!(expanded(&file, &[]), Ok(expected));
}

#[test]
fn every_mistake_is_reported_with_its_line_and_what_was_meant() {
    let file = file("# A comment\nlisten-on = \"x\"\ntrustd = true\n\npaths = 300\ntrusted = 1\nkey = [1]\n");
    let said = expanded(&file, &[]).expect_err("mistakes");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 5, "{said}");
    assert_eq!(lines.first(), Some(&"FILE:2: there is no key `listen-on`; did you mean `listen_on`?"));
    assert_eq!(lines.get(1), Some(&"FILE:3: there is no key `trustd`; did you mean `trusted`?"));
    assert!(said.contains("FILE:5: invalid value '300' for `paths`: 300 is not in 0..=255"), "{said}");
    assert!(said.contains("FILE:6: `trusted` is true or false"), "{said}");
    assert!(said.contains("FILE:7: `key` takes one value, not a list of 1"), "{said}");
}

#[test]
fn text_that_is_no_toml_is_reported_with_its_line() {
    let said = expanded(&file("paths = 4\nport = [\n"), &[]).expect_err("a mistake");
    assert!(said.starts_with("FILE:2: ") || said.starts_with("FILE:3: "), "{said}");
}

#[test]
fn descriptors_and_the_file_itself_are_no_keys() {
    for text in ["some_fd = 3", "config = \"other.toml\"", "help = true"] {
        let said = expanded(&file(text), &[]).expect_err(text);
        assert!(said.starts_with("FILE:1: there is no key"), "{said}");
    }
}

#[test]
fn a_file_that_is_absent_is_named() {
    let line = ["braid", "run", "--config", "/nowhere/daemon.toml"].map(OsString::from).to_vec();
    let error = expand(&Root::command(), line).expect_err("no file");
    assert!(error.to_string().contains("cannot read the configuration /nowhere/daemon.toml"), "{error}");
}

#[test]
fn command_lines_without_a_file_stay_as_they_are() {
    for line in [vec!["braid", "run", "--paths", "2"], vec!["braid", "--help"], vec!["braid", "nothing"]] {
        let line: Vec<_> = line.into_iter().map(OsString::from).collect();
        let arguments = expand(&Root::command(), line.clone()).expect("no file is read");
        assert_eq!((arguments.all, arguments.file), (line, None));
    }
}
