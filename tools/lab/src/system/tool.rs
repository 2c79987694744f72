//! External tools with arguments, environment and namespace, and readable errors.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

use super::{Marker, Namespace};
use crate::error::LabError;

/// The package of each tool, for errors about missing tools.
const PACKAGES: &[(&str, &str)] = &[
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("ss", "iproute2"),
    ("ethtool", "ethtool"),
    ("ovsdb-tool", "openvswitch-switch"),
    ("ovsdb-server", "openvswitch-switch"),
    ("ovs-vswitchd", "openvswitch-switch"),
    ("ovs-vsctl", "openvswitch-switch"),
    ("ovs-ofctl", "openvswitch-switch"),
    ("etcd", "etcd-server"),
    ("iperf3", "iperf3"),
    ("mptcpize", "mptcpize"),
    ("tcpdump", "tcpdump"),
    ("globus-gridftp-server", "globus-gridftp-server-progs"),
    ("nsenter", "util-linux"),
    ("wget", "wget"),
    ("python3", "python3"),
    ("vsftpd", "vsftpd"),
];

/// A program that the lab starts, in a process group of its own so that signals of the terminal do not reach it.
pub(crate) struct Tool {
    command: Command,
    input: String,
    namespace: Option<Namespace>,
}

impl Tool {
    /// A process of the lab with `marker`.
    pub(crate) fn new(program: impl AsRef<OsStr>, marker: &Marker) -> Self {
        let mut tool = Self::unmarked(program);
        tool.command.env(Marker::VARIABLE, marker.value());
        tool
    }

    /// A process without a lab.
    pub(crate) fn unmarked(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.env("PATH", search_path()).env("LC_ALL", "C").process_group(0);
        Self { command, input: String::new(), namespace: None }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    pub(crate) fn within(mut self, namespace: &Namespace) -> Self {
        self.namespace = Some(namespace.clone());
        self
    }

    /// Sets its standard input.
    pub(crate) fn input(mut self, input: String) -> Self {
        self.input = input;
        self
    }

    /// Runs the tool to its end. Returns its standard output.
    pub(crate) fn run(mut self) -> Result<String, LabError> {
        let mut child = self.spawn(Stdio::piped(), Stdio::piped(), Stdio::piped())?;
        let output = feed(&mut child, &self.input)
            .and_then(|()| child.wait_with_output())
            .map_err(|error| LabError::io(self.line(), error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(self.failure(&output))
    }

    /// Starts the tool without waiting.
    pub(crate) fn spawn(&mut self, stdin: Stdio, stdout: Stdio, stderr: Stdio) -> Result<Child, LabError> {
        self.command.stdin(stdin).stdout(stdout).stderr(stderr);
        let namespace = self.namespace.clone();
        match namespace {
            None => self.start(),
            Some(namespace) => namespace.run(|| self.start()),
        }
    }

    fn start(&mut self) -> Result<Child, LabError> {
        self.command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(&self.program()),
            _ => LabError::io(self.line(), error),
        })
    }

    fn failure(&self, output: &Output) -> LabError {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        LabError::Tool { command: self.line(), status: output.status.to_string(), message }
    }

    fn program(&self) -> String {
        self.command.get_program().to_string_lossy().into_owned()
    }

    // Transactions have thousands of words: the first ones identify them.
    fn line(&self) -> String {
        let words: Vec<_> = self.command.get_args().map(OsStr::to_string_lossy).take(8).collect();
        let rest = if self.command.get_args().count() > 8 { " ..." } else { "" };
        format!("{} {}{rest}", self.program(), words.join(" "))
    }
}

// A tool that fails early closes its standard input; its own message is more useful.
fn feed(child: &mut Child, input: &str) -> io::Result<()> {
    let Some(mut stdin) = child.stdin.take() else { return Ok(()) };
    match stdin.write_all(input.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// The caller's PATH with the folders of administrators' tools.
pub(crate) fn search_path() -> String {
    let path = env::var("PATH").unwrap_or_default();
    format!("{path}:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin")
}

fn missing(program: &str) -> LabError {
    let package = PACKAGES.iter().find(|(name, _)| *name == program);
    let remedy = match package {
        Some((_, package)) => format!("install it, on Debian with `apt install {package}`"),
        None if program.starts_with("tquic_") => {
            "build it with `scripts/quic-tools`, and add target/tools/bin to PATH".to_owned()
        }
        None => "install it, or give its full path".to_owned(),
    };
    LabError::missing(format!("the program {program} is not there"), remedy)
}
