//! Start of a command under seccomp, and the listener for its connections.

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

/// Errors of starting a command.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The process could not be created.
    #[error("the command did not start")]
    Process(#[from] io::Error),
    /// The process ended with this code before it became the command, and has printed the error.
    #[error("the command did not start: its process ended with {0}")]
    Ended(i32),
    /// The process is in an unexpected state.
    #[error("the command did not start: {0:?}")]
    Strange(WaitStatus),
    /// The seccomp listener cannot be taken over.
    #[error("cannot take over the command's seccomp listener")]
    Listener(#[source] io::Error),
}

/// Errors of becoming a command.
#[derive(Debug, thiserror::Error)]
pub enum BecomeError {
    /// The kernel cannot notify about connections.
    #[error("cannot install a seccomp filter for connections: {0}")]
    Watch(#[from] SeccompError),
    /// The parent cannot take the listener.
    #[error("the process cannot wait for its parent")]
    Wait(#[from] nix::Error),
    /// No command is given.
    #[error("no command is given")]
    Missing,
    /// The program does not exist or cannot be run.
    #[error("{program}: {source}", program = Path::new(program).display())]
    Program {
        /// The program's name.
        program: OsString,
        /// Why.
        source: io::Error,
    },
}

/// Starts `process`, which has to call [`become_command`], and has to print the reason if it ends before that.
///
/// # Errors
///
/// The process cannot be started or watched.
pub fn start(process: &mut Command) -> Result<Watched, StartError> {
    let mut child = process.spawn()?;
    let pid = Pid::from_raw(child.id().cast_signed());
    // The child stops once its filter is installed and its listener can be taken.
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

/// Installs the filter, waits for the parent to take the listener, and executes the command.
///
/// # Errors
///
/// The filter cannot be installed, or the command cannot be executed.
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
    // Stays open until exec: dropping the filter would close it.
    std::mem::forget(filter);
    Ok(())
}

/// Takes over the seccomp listener.
fn take_listener(pid: u32) -> io::Result<OwnedFd> {
    let mut numbers = fs::read_dir(format!("/proc/{pid}/fd"))?.filter_map(|entry| {
        let path = entry.ok()?.path();
        let target = fs::read_link(&path).ok()?;
        let is_listener = target.to_str()?.starts_with("anon_inode:seccomp");
        is_listener.then(|| path.file_name()?.to_str()?.parse().ok()).flatten()
    });
    let number = numbers.next().ok_or_else(|| io::Error::other("the process has no seccomp listener"))?;
    take(pid, number)
}

/// A descriptor of another process.
pub(super) fn take(pid: u32, number: i32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let process = pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?)
}
