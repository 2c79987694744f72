//! One member of a lab's cluster: how it is started, and its process.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::process::{Listeners, Outputs};
use super::{ControllerSettings, MemberAddresses};
use crate::agents::Reception;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;

/// Where the first member listens inside the fabric, the others behind it.
const FIRST_OPENFLOW: u16 = 6_653;
const FIRST_HTTP: u16 = 8_653;

/// What all members of a cluster have.
pub(super) struct Common {
    pub(super) store: String,
    pub(super) options: Vec<String>,
    /// What they serve agents on hosts with, if there are any.
    pub(super) reception: Option<Reception>,
}

/// How a member is started.
#[derive(Clone, Debug)]
pub(super) struct MemberPlan {
    name: String,
    /// For switches, inside the fabric.
    openflow: SocketAddr,
    /// For users, in the first namespace; with port 0 until the first start.
    http: SocketAddr,
    /// For agents on hosts, inside the fabric.
    agents: Option<SocketAddr>,
    /// The program and its arguments.
    command: Vec<OsString>,
}

/// A member.
#[derive(Debug)]
pub(super) struct Member {
    plan: MemberPlan,
    state: State,
}

#[derive(Debug)]
enum State {
    Running(Child),
    Stopped(Child),
    Killed,
}

impl MemberPlan {
    /// Member number `place` of a cluster.
    pub(super) fn new(place: u16, settings: &ControllerSettings, common: &Common) -> Self {
        let name = format!("c{}", place + 1);
        let at = |first: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, first + place));
        let (openflow, inner) = (at(FIRST_OPENFLOW), at(FIRST_HTTP));
        let http = if place == 0 { settings.http } else { SocketAddr::new(settings.http.ip(), 0) };
        let agents = common.reception.as_ref().map(|_| Reception::address(FIRST_HTTP + place));
        let mut command = vec![settings.executable.clone().into_os_string()];
        command.extend(["controller", "run", "--http-fd=3"].map(OsString::from));
        // Other members pass requests on to the inner address.
        let own = [("openflow", openflow.to_string()), ("http", inner.to_string())];
        let own =
            own.into_iter().chain([("cluster", common.store.clone()), ("cluster-member", name.clone())]);
        command.extend(own.map(|(option, value)| format!("--{option}={value}").into()));
        command.extend(common.options.iter().map(OsString::from));
        if let Some(Reception { tokens }) = &common.reception {
            command.extend(["--http-fd=4", "--agent-tokens"].map(OsString::from));
            command.push(tokens.clone().into_os_string());
        }
        if let Some(record) = &settings.record {
            let mut file = OsString::from("--record=");
            file.push(record);
            file.push(format!(".{name}"));
            command.push(file);
        }
        Self { name, openflow, http, agents, command }
    }
}

impl Member {
    /// Starts it; it accepts connections when this returns.
    pub(super) fn start(
        lab: &Deployed,
        mut plan: MemberPlan,
        interrupt: &Interrupt,
    ) -> Result<Self, LabError> {
        let what = || format!("listening on {}", plan.http);
        let listener = TcpListener::bind(plan.http).map_err(|error| LabError::io(what(), error))?;
        plan.http = listener.local_addr().map_err(|error| LabError::io(what(), error))?;
        let agents = plan.agents.map(|address| lab.fabric().tcp_listener(address)).transpose()?;
        let listeners = Listeners { first: listener, agents };
        let outputs = Outputs::of(lab, &format!("controller-{}", plan.name));
        let shell = outputs.shell(lab, &listeners).args(&plan.command);
        let (child, _) = outputs.start(shell.within(&lab.fabric()), listeners, interrupt)?;
        Ok(Self { plan, state: State::Running(child) })
    }

    pub(super) fn addresses(&self) -> MemberAddresses {
        let MemberPlan { name, openflow, http, agents, .. } = &self.plan;
        MemberAddresses { name: name.clone(), openflow: *openflow, http: *http, agents: *agents }
    }

    pub(super) const fn is_running(&self) -> bool {
        matches!(self.state, State::Running(_))
    }

    /// Kills its process, and waits for its end.
    pub(super) fn kill(&mut self) -> Result<(), LabError> {
        let State::Running(child) = &mut self.state else { return Ok(()) };
        let ended = child.kill().and_then(|()| child.wait());
        ended.map_err(|error| LabError::io(format!("killing {}", self.plan.name), error))?;
        self.state = State::Killed;
        Ok(())
    }

    /// Stops its process, as if it hung.
    pub(super) fn stop(&mut self) -> Result<(), LabError> {
        match std::mem::replace(&mut self.state, State::Killed) {
            State::Running(child) => {
                let sent = self.signal(&child, Signal::SIGSTOP);
                self.state = State::Stopped(child);
                sent
            }
            other => {
                self.state = other;
                Ok(())
            }
        }
    }

    /// Makes it run again.
    pub(super) fn restore(&mut self, lab: &Deployed) -> Result<(), LabError> {
        match std::mem::replace(&mut self.state, State::Killed) {
            State::Running(child) => self.state = State::Running(child),
            State::Stopped(child) => {
                let sent = self.signal(&child, Signal::SIGCONT);
                self.state = State::Running(child);
                sent?;
            }
            State::Killed => *self = Self::start(lab, self.plan.clone(), &Interrupt::default())?,
        }
        Ok(())
    }

    fn signal(&self, child: &Child, signal: Signal) -> Result<(), LabError> {
        // A process number fits, as the kernel's are below 2^22.
        let process = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
        kill(process, signal)
            .map_err(|error| LabError::io(format!("{signal} to {}", self.plan.name), error.into()))
    }
}
