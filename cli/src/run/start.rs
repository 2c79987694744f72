use std::env::current_exe;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use anyhow::{Context, bail};
use libseccomp::{ScmpAction, ScmpFilterContext, ScmpSyscall};
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::exit::{self, Code};

/// Starts a process that has the kernel ask before each of its connections, and is about to become the command.
pub(super) fn start(command: &[OsString]) -> anyhow::Result<(Child, OwnedFd)> {
    let own = current_exe().context("the path of this program")?;
    let mut child = Command::new(own).args(["run", "--begin", "--"]).args(command).spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    // It stops once the kernel knows what to ask, and its listener is there to be taken.
    let listener = match waitpid(pid, Some(WaitPidFlag::WUNTRACED))? {
        WaitStatus::Stopped(..) => take_listener(child.id()),
        WaitStatus::Exited(_, code) => std::process::exit(code),
        other => bail!("the command did not start: {other:?}"),
    };
    if listener.is_err() {
        child.kill()?;
    }
    kill(pid, Signal::SIGCONT)?;
    Ok((child, listener.context("the command's connections cannot be watched")?))
}

/// Has the kernel ask before each connection, and goes on as the command.
pub(super) fn become_command(command: &[OsString]) -> anyhow::Result<()> {
    ask_before_connections().map_err(|error| {
        exit::error(Code::Machine, format!("connections cannot be watched by seccomp: {error}"))
    })?;
    raise(Signal::SIGSTOP)?;
    let [program, arguments @ ..] = command else { bail!("there is no command") };
    let error = Command::new(program).args(arguments).exec();
    let code = if error.kind() == io::ErrorKind::NotFound { Code::NotFound } else { Code::Failure };
    Err(exit::error(code, format!("{}: {error}", Path::new(program).display())))
}

fn ask_before_connections() -> Result<(), libseccomp::error::SeccompError> {
    let mut filter = ScmpFilterContext::new(ScmpAction::Allow)?;
    filter.add_rule(ScmpAction::Notify, ScmpSyscall::from_name("connect")?)?;
    filter.load()?;
    // Kept open until the command takes this process's place: dropping the filter would close it.
    std::mem::forget(filter);
    Ok(())
}

/// Takes over the descriptor by which the kernel asks.
fn take_listener(pid: u32) -> anyhow::Result<OwnedFd> {
    let mut numbers = fs::read_dir(format!("/proc/{pid}/fd"))?.filter_map(|entry| {
        let path = entry.ok()?.path();
        let target = fs::read_link(&path).ok()?;
        let is_listener = target.to_str()?.starts_with("anon_inode:seccomp");
        is_listener.then(|| path.file_name()?.to_str()?.parse().ok()).flatten()
    });
    let number: i32 = numbers.next().context("it has no listener")?;
    take(pid, number).context("its listener cannot be taken")
}

/// A descriptor of another process.
pub(super) fn take(pid: u32, number: i32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let process = pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?)
}
