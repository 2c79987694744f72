//! The process that becomes a command, and the listener to its connections.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use libseccomp::error::SeccompError;
use libseccomp::{ScmpAction, ScmpFilterContext, ScmpSyscall};
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::Watched;

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no process for it.
    #[error("the command did not start")]
    Process(#[from] io::Error),
    /// The process ended with this code before it was the command, and has said why.
    #[error("the command did not start: its process ended with {0}")]
    Ended(i32),
    /// The process neither ended nor waits.
    #[error("the command did not start: {0:?}")]
    Strange(WaitStatus),
    /// The descriptor by which the kernel asks cannot be had.
    #[error("the command's connections cannot be watched")]
    Listener(#[source] io::Error),
}

/// Why a process cannot become a command.
#[derive(Debug, thiserror::Error)]
pub enum BecomeError {
    /// The kernel does not ask before connections.
    #[error("connections cannot be watched by seccomp: {0}")]
    Watch(#[from] SeccompError),
    /// Its parent cannot take the listener.
    #[error("the process cannot wait for its parent")]
    Wait(#[from] nix::Error),
    /// Nothing was given.
    #[error("there is no command")]
    Missing,
    /// The program is not there, or cannot be run.
    #[error("{program}: {source}", program = Path::new(program).display())]
    Program {
        /// Its name.
        program: OsString,
        /// Why.
        source: io::Error,
    },
}

/// Starts `process`, which has to call [`become_command`], and to say why when it ends before that.
///
/// # Errors
///
/// There is no such process, or it cannot be watched.
pub fn start(process: &mut Command) -> Result<Watched, StartError> {
    let mut child = process.spawn()?;
    let pid = Pid::from_raw(child.id().cast_signed());
    // It stops once the kernel knows what to ask, and its listener is there to be taken.
    let listener = match waitpid(pid, Some(WaitPidFlag::WUNTRACED)).map_err(io::Error::from)? {
        WaitStatus::Stopped(..) => take_listener(child.id()),
        WaitStatus::Exited(_, code) => return Err(StartError::Ended(code)),
        other => return Err(StartError::Strange(other)),
    };
    if listener.is_err() {
        child.kill()?;
    }
    kill(pid, Signal::SIGCONT).map_err(io::Error::from)?;
    Ok(Watched { child, listener: listener.map_err(StartError::Listener)? })
}

/// Has the kernel ask before each connection, waits for the parent to take the listener, and goes on as the command.
///
/// # Errors
///
/// The kernel does not ask, or the command is no program.
pub fn become_command(command: &[OsString]) -> Result<Infallible, BecomeError> {
    ask_before_connections()?;
    raise(Signal::SIGSTOP)?;
    let [program, arguments @ ..] = command else { return Err(BecomeError::Missing) };
    let source = Command::new(program).args(arguments).exec();
    Err(BecomeError::Program { program: program.clone(), source })
}

fn ask_before_connections() -> Result<(), SeccompError> {
    let mut filter = ScmpFilterContext::new(ScmpAction::Allow)?;
    filter.add_rule(ScmpAction::Notify, ScmpSyscall::from_name("connect")?)?;
    filter.load()?;
    // Kept open until the command takes this process's place: dropping the filter would close it.
    std::mem::forget(filter);
    Ok(())
}

/// Takes over the descriptor by which the kernel asks.
fn take_listener(pid: u32) -> io::Result<OwnedFd> {
    let mut numbers = fs::read_dir(format!("/proc/{pid}/fd"))?.filter_map(|entry| {
        let path = entry.ok()?.path();
        let target = fs::read_link(&path).ok()?;
        let is_listener = target.to_str()?.starts_with("anon_inode:seccomp");
        is_listener.then(|| path.file_name()?.to_str()?.parse().ok()).flatten()
    });
    let number = numbers.next().ok_or_else(|| io::Error::other("it has no listener"))?;
    take(pid, number)
}

/// A descriptor of another process.
pub(super) fn take(pid: u32, number: i32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let process = pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?)
}
