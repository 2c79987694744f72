//! `--config` of daemons, `braid controller check`, and the reload at SIGHUP.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::{run, text};
use tempfile::TempDir;

const POLICY: &str = "[[rule]]\nname = \"backups\"\nports = [873]\nkind = \"single\"\n";

/// A folder with a configuration and a policy.
struct Folder(TempDir);

impl Folder {
    fn new(config: &str) -> Self {
        let folder = Self(TempDir::new().unwrap());
        folder.write("controller.toml", config);
        folder.write("policy.toml", POLICY);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    /// What `braid controller check` says, and its exit code.
    fn check(&self) -> (String, Option<i32>) {
        let config = self.path("controller.toml");
        let output = run(&["controller", "check", config.to_str().unwrap()]);
        let said = text(&output.stdout) + &text(&output.stderr);
        (said.replace(self.0.path().to_str().unwrap(), "DIR"), output.status.code())
    }
}

#[test]
fn a_valid_configuration_says_where_the_controller_listens() {
    let folder = Folder::new("openflow = \"127.0.0.1:7000\"\npolicy = \"policy.toml\"\necmp = \"off\"\n");
    let expected = "DIR/controller.toml: valid; OpenFlow on 127.0.0.1:7000, API on 127.0.0.1:8653\n";
    assert_eq!(folder.check(), (expected.to_owned(), Some(0)));
}

#[test]
fn mistakes_of_the_configuration_are_named_with_their_lines() {
    let folder = Folder::new("placement = \"best\"\n\nparallel = 99\n");
    let (said, code) = folder.check();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("DIR/controller.toml:1: invalid value 'best' for `placement`"), "{said}");
    assert!(said.contains("DIR/controller.toml:3: invalid value '99' for `parallel`"), "{said}");
}

#[test]
fn mistakes_of_files_that_it_names_are_found() {
    let folder = Folder::new("policy = \"policy.toml\"\n");
    folder.write("policy.toml", "[[rule]]\nkind = \"some\"\n");
    let (said, code) = folder.check();
    assert!(said.contains("DIR/policy.toml:1:1: the key \"name\" is missing"), "{said}");
    assert_eq!(code, Some(2));
}

#[test]
fn a_key_without_the_one_that_it_needs_is_refused_with_the_name_of_the_file() {
    let (said, code) = Folder::new("tls_certificate = \"own.pem\"\n").check();
    assert!(said.contains("with DIR/controller.toml: ") && said.contains("--tls-key"), "{said}");
    assert_eq!(code, Some(2));
}

#[test]
fn a_controller_that_strangers_reach_is_refused_before_it_runs() {
    let (said, code) = Folder::new("openflow = \"0.0.0.0:6653\"\n").check();
    assert!(said.contains("--openflow-trusted"), "{said}");
    assert_eq!(code, Some(2));
}

#[test]
fn edges_and_host_agents_take_their_options_from_a_file_too() {
    let folder = Folder::new("");
    folder.write("edge.toml", "port = [\"no-such-port\"]\nlisten = [\"127.0.0.1:0\"]\n");
    folder.write("host.toml", "mode = \"kernel\"\nendpoints = [\"nonsense\"]\n");
    for (daemon, said) in [("edge", "no-such-port"), ("host", "nonsense")] {
        let file = folder.path(&format!("{daemon}.toml"));
        let output = run(&[daemon, "run", "--config", file.to_str().unwrap()]);
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
}

#[test]
fn the_example_of_a_site_is_valid_once_its_comments_are_keys() {
    let folder = Folder::new("");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/etc/sites/example.toml");
    let keygen = |name: &str| run(&["site", "keygen", folder.path(name).to_str().unwrap()]);
    assert!(keygen("example.key").status.success());
    let branch = keygen("branch.key");
    let is_key =
        |line: &&str| line.starts_with(['[', '\n']) || line.starts_with(|it: char| it.is_ascii_lowercase());
    let example = fs::read_to_string(example).unwrap();
    let keys = example.lines().filter_map(|line| line.strip_prefix('#')).filter(is_key);
    let routed: Vec<_> =
        keys.filter(|line| !line.starts_with("bridge") && !line.starts_with("ethernet")).collect();
    let filled = routed.join("\n").replace("PUBLIC KEY OF THE BRANCH", text(&branch.stdout).trim());
    folder.write("site.toml", &filled);
    let output = run(&["site", "check", folder.path("site.toml").to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("uplinks 2, peers 1, paths to dial 2"), "{}", text(&output.stdout));
}

/// A controller with a configuration, and its log.
struct Running {
    process: Child,
    log: BufReader<std::process::ChildStderr>,
}

impl Running {
    fn start(folder: &Folder) -> Self {
        Self::start_with(folder, &[])
    }

    fn start_with(folder: &Folder, environment: &[(&str, PathBuf)]) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("braid"));
        command.args(["controller", "run", "--config"]).arg(folder.path("controller.toml"));
        command.envs(environment.iter().cloned());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(process.stderr.take().unwrap());
        let mut running = Self { process, log };
        running.wait_for("INFO ready");
        running
    }

    /// The first line of the log that contains `part`.
    fn wait_for(&mut self, part: &str) -> String {
        let mut line = String::new();
        while !line.contains(part) {
            line.clear();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "the log ends before {part:?}");
        }
        line
    }

    fn reload(&mut self) {
        kill(Pid::from_raw(self.process.id().cast_signed()), Signal::SIGHUP).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const ANYWHERE: &str = "openflow = \"127.0.0.1:0\"\nhttp = \"127.0.0.1:0\"\npolicy = \"policy.toml\"\n";

#[test]
fn a_reload_keeps_the_last_good_configuration_and_takes_the_next_good_one() {
    let folder = Folder::new(ANYWHERE);
    let mut controller = Running::start(&folder);
    folder.write("controller.toml", &format!("{ANYWHERE}paralel = 2\n"));
    controller.reload();
    controller.wait_for("the last good configuration and policy stay in use");
    let mistake = controller.wait_for("controller.toml:4");
    assert!(mistake.contains("did you mean `parallel`?"), "{mistake}");

    folder.write("other.toml", POLICY);
    folder.write(
        "controller.toml",
        &format!("{}parallel = 2\n", ANYWHERE.replace("policy.toml", "other.toml")),
    );
    controller.reload();
    let later = controller.wait_for("take effect at the next start");
    assert!(later.contains("parallel") && !later.contains("openflow"), "{later}");
    assert!(controller.wait_for("policy reloaded").contains("other.toml"));
}

#[test]
fn a_policy_that_the_configuration_no_longer_names_is_dropped() {
    let folder = Folder::new(ANYWHERE);
    let mut controller = Running::start(&folder);
    folder.write("controller.toml", &ANYWHERE.replace("policy = \"policy.toml\"\n", ""));
    controller.reload();
    controller.wait_for("names no policy any more");
}

#[test]
fn a_daemon_tells_the_service_manager_when_it_serves_and_that_it_lives() {
    let folder = Folder::new(ANYWHERE);
    let socket = std::os::unix::net::UnixDatagram::bind(folder.path("notify")).unwrap();
    let notify = [("NOTIFY_SOCKET", folder.path("notify")), ("WATCHDOG_USEC", "400000".into())];
    let _controller = Running::start_with(&folder, &notify);
    let mut message = [0; 64];
    let mut next = || {
        let length = socket.recv(&mut message).unwrap();
        String::from_utf8_lossy(&message[..length]).into_owned()
    };
    assert_eq!([next(), next(), next()], ["READY=1\n", "WATCHDOG=1\n", "WATCHDOG=1\n"]);
}
