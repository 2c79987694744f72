//! The examples in /etc/braid: every key of a command with its purpose and default.

use std::path::Path;

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::help::help_in_keys;
use super::schema::is_number;
use super::setting::{checker, key_of};

const WIDTH: usize = 98;
const WRITE: &str = "BRAID_WRITE_CONFIG";

fn example(names: &str, intro: &str) -> String {
    let root = crate::Cli::command();
    let command = names.split(' ').try_fold(&root, |command, name| command.find_subcommand(name));
    let command = checker(command.expect("the command exists"));
    let entries: String = command.get_arguments().map(|arg| entry(arg, &command)).collect();
    format!("{}{entries}", comment(intro))
}

fn entry(arg: &Arg, command: &Command) -> String {
    let key = key_of(arg.get_long().expect("keys are long options"));
    format!("\n{}#{key} = {}\n", comment(&help_in_keys(arg, command)), value(arg))
}

/// The default, or what the value looks like.
fn value(arg: &Arg) -> String {
    let name = || arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default();
    match (arg.get_action(), arg.get_default_values()) {
        (ArgAction::SetTrue, _) => "false".to_owned(),
        (ArgAction::Append, _) => format!("[{:?}]", name()),
        (_, [default, ..]) => {
            let text = default.to_string_lossy();
            if is_number(arg) { text.into_owned() } else { format!("{text:?}") }
        }
        _ => format!("{:?}", name()),
    }
}

fn comment(text: &str) -> String {
    let mut lines = vec![String::new()];
    for paragraph in text.lines().filter(|line| !line.trim().is_empty()) {
        for word in paragraph.split_whitespace() {
            let line = lines.last_mut().expect("there is one");
            if !line.is_empty() && line.len() + word.len() >= WIDTH {
                lines.push(word.to_owned());
            } else {
                *line += if line.is_empty() { "" } else { " " };
                *line += word;
            }
        }
        lines.push(String::new());
    }
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("# {line}\n")).collect()
}

fn intro(names: &str, check: &str) -> String {
    format!(
        "Options of `braid {names}`: each is a key, with _ for -. A key that is commented out has its default, or none.\n\
        Files are looked for in this folder. The command line and the environment come before this file.\n{check}"
    )
}

/// Compares with the file in git, or writes it.
fn is_current(file: &str, names: &str, check: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/etc").join(file);
    let text = example(names, &intro(names, check));
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == text, "packaging/etc/{file} is old: {WRITE}=1 cargo test --package braid examples");
    accepts_its_defaults(&path, &text, names);
}

/// Keys with a default are accepted as they stand, and no key is left out for a name that is not its own.
fn accepts_its_defaults(path: &Path, text: &str, names: &str) {
    let root = crate::Cli::command();
    let command = names.split(' ').try_fold(&root, |command: &Command, name| command.find_subcommand(name));
    let folder = tempfile::tempdir().expect("a folder");
    let placeholder =
        |line: &str| line.contains("= \"") && line.chars().any(char::is_uppercase) || line.contains('[');
    let keys = text.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' '));
    let defaults: Vec<_> = keys.filter(|line| !placeholder(line)).collect();
    let file = folder.path().join("defaults.toml");
    std::fs::write(&file, defaults.join("\n")).expect("a file");
    let read = super::setting::read(&file, command.expect("the command exists"));
    assert!(read.is_ok(), "{}: {}", path.display(), read.expect_err("mistakes"));
}

#[test]
fn examples_for_the_controller_name_every_key() {
    let check = "`braid controller check FILE` finds mistakes. At SIGHUP (systemctl reload) the file is read again: the policy \
        changes at once, other keys at the next start.";
    is_current("controller.toml", "controller run", check);
}

#[test]
fn examples_for_an_edge_name_every_key() {
    is_current("edge.toml", "edge run", "An edge needs at least one port.");
}

#[test]
fn examples_for_the_host_agent_name_every_key() {
    is_current("host.toml", "host run", "The agent needs a mode, a congestion control, or both.");
}
