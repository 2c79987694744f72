//! The process of a lab's controller: started with its files, listening when that is over.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use braid_topology::export;
use serde::Deserialize;

use super::ControllerSettings;
use crate::certificates::Certificates;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Scenario;
use crate::system::Tool;

const START_TIMEOUT: Duration = Duration::from_secs(10);

/// What a controller says once it listens.
#[derive(Deserialize)]
pub(super) struct Listening {
    pub(super) openflow: SocketAddr,
    pub(super) http: SocketAddr,
}

/// What controllers are to read.
pub(super) struct Files {
    network: PathBuf,
    policy: Option<PathBuf>,
}

/// The sockets that a controller inherits.
pub(super) struct Listeners {
    pub(super) first: TcpListener,
    /// For agents on hosts.
    pub(super) agents: Option<TcpListener>,
}

/// Where a controller writes.
pub(super) struct Outputs {
    pub(super) said: PathBuf,
    log: PathBuf,
}

impl Files {
    /// Writes them into the folder of `lab`.
    pub(super) fn write(
        lab: &Deployed,
        scenario: &Scenario,
        settings: &ControllerSettings,
    ) -> Result<Self, LabError> {
        Ok(Self { network: write_network(lab, scenario)?, policy: write_policy(lab, settings)? })
    }

    /// The options that all controllers of a lab have.
    pub(super) fn options(
        &self,
        lab: &Deployed,
        settings: &ControllerSettings,
        certificates: Option<&Certificates>,
    ) -> Vec<String> {
        let mut all = ["--lab", lab.name().as_str(), "--network"].map(str::to_owned).to_vec();
        all.push(self.network.display().to_string());
        all.extend(
            self.policy.iter().flat_map(|policy| ["--policy".to_owned(), policy.display().to_string()]),
        );
        all.extend(settings.options.iter().map(|(option, value)| format!("--{option}={value}")));
        all.extend(certificates.into_iter().flat_map(tls_options));
        all
    }
}

impl Outputs {
    /// The files of the controller of this name.
    pub(super) fn of(lab: &Deployed, name: &str) -> Self {
        let file = |what: &str| lab.folder.log().join(format!("{name}.{what}"));
        Self { said: file("out"), log: file("log") }
    }

    /// A shell that runs a command with one listener or two as descriptors 3 and 4: the arguments that are added are the
    /// command's. No safe call of Rust's moves them there, so they come as stdin and stdout.
    pub(super) fn shell(&self, lab: &Deployed, listeners: &Listeners) -> Tool {
        let script = match listeners.agents {
            Some(_) => "exec \"$0\" \"$@\" 3<&0 4<&1 </dev/null >\"$BRAID_LAB_OUTPUT\"",
            None => "exec \"$0\" \"$@\" 3<&0 </dev/null",
        };
        lab.tool("sh").env("BRAID_LAB_OUTPUT", &self.said).args(["-c", script])
    }

    /// Starts such a shell.
    pub(super) fn start(
        &self,
        mut shell: Tool,
        listeners: Listeners,
        interrupt: &Interrupt,
    ) -> Result<(Child, Listening), LabError> {
        let said = create(&self.said)?;
        // What would be stdout is a socket where there are agents, so that the shell has to open the file.
        let stdout = listeners.agents.map_or_else(|| said.into(), |it| Stdio::from(OwnedFd::from(it)));
        let stdin = Stdio::from(OwnedFd::from(listeners.first));
        let mut child = shell.spawn(stdin, stdout, create(&self.log)?.into())?;
        let ready = interrupt.poll(START_TIMEOUT, || match first_line(&self.said) {
            Some(line) => self.parse(&line).map(Some),
            None => self.alive(&mut child).map(|()| None),
        })?;
        let silent = || self.failed(format!("said nothing in {} s", START_TIMEOUT.as_secs()));
        Ok((child, ready.ok_or_else(silent)?))
    }

    fn parse(&self, line: &str) -> Result<Listening, LabError> {
        let parsed = serde_json::from_str(line);
        parsed.map_err(|error| self.failed(format!("said {line:?} instead of its addresses ({error})")))
    }

    fn alive(&self, child: &mut Child) -> Result<(), LabError> {
        let ended = child.try_wait().map_err(|error| LabError::io("waiting for the controller", error))?;
        let Some(status) = ended else { return Ok(()) };
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let last = said.lines().last().unwrap_or("nothing");
        Err(self.failed(format!("ended ({status}) and said: {last}")))
    }

    fn failed(&self, what: String) -> LabError {
        LabError::Controller { what, log: self.log.clone() }
    }
}

fn tls_options(certificates: &Certificates) -> Vec<String> {
    let mut options = certificates.controller.options("--openflow-tls");
    options.push("--openflow-tls=required".to_owned());
    options.push(format!("--openflow-identities={}", certificates.identities.display()));
    options
}

fn write_policy(lab: &Deployed, settings: &ControllerSettings) -> Result<Option<PathBuf>, LabError> {
    let Some(policy) = &settings.policy else { return Ok(None) };
    let path = lab.folder.path.join("policy.toml");
    fs::write(&path, policy).map_err(|error| LabError::file(&path, error))?;
    Ok(Some(path))
}

/// Virtual links are as fast as the machine: what their ports say is no capacity.
fn write_network(lab: &Deployed, scenario: &Scenario) -> Result<PathBuf, LabError> {
    let path = lab.folder.network();
    let network =
        scenario.blueprint().map_err(|error| LabError::file(&path, std::io::Error::other(error)))?;
    fs::write(&path, export::json(&network)).map_err(|error| LabError::file(&path, error))?;
    Ok(path)
}

fn create(path: &Path) -> Result<File, LabError> {
    File::create(path).map_err(|error| LabError::file(path, error))
}

fn first_line(output: &Path) -> Option<String> {
    let text = fs::read_to_string(output).ok()?;
    text.split_once('\n').map(|(line, _)| line.to_owned())
}
