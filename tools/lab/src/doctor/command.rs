//! Execution of external programs with a timeout, and the reason of a failure.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::search_path;

/// The time after which a program counts as broken.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A program with its arguments, searched in administrators' folders as well, with English messages.
///
/// It runs in a process group of its own, so that signals of the terminal do not interrupt it.
pub(super) fn program(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).env("LC_ALL", "C").process_group(0);
    command.env("PATH", search_path());
    command
}

/// Runs a command with `input` to its end. Returns its output.
pub(super) fn run(mut command: Command, input: &str) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends without reading prints the reason.
        let _ = stdin.write_all(input.as_bytes());
    }
    wait(&mut child)?;
    child.wait_with_output()
}

/// Waits for the end of a program that prints little, and kills it after the timeout.
fn wait(child: &mut Child) -> io::Result<()> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > PROBE_TIMEOUT {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not end"));
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// The first line of its standard error, or its exit status.
pub(super) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(|| output.status.to_string(), |line| line.trim_start_matches("Error: ").to_owned())
}
