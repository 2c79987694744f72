//! External programs run with a timeout, and the reason why one failed.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::search_path;

/// A program that takes longer does not work.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(2);

/// A program with its arguments, which is found where administrators' programs are, too, and speaks English.
///
/// Signals of the terminal pass it by, so that what it began it also ends.
pub(super) fn program(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).env("LC_ALL", "C").process_group(0);
    command.env("PATH", search_path());
    command
}

/// Runs a command to its end and gives what it printed; it reads `input`.
pub(super) fn run(mut command: Command, input: &str) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends without reading tells why in what it prints.
        let _ = stdin.write_all(input.as_bytes());
    }
    wait(&mut child)?;
    child.wait_with_output()
}

/// Waits for the end of one that prints little, and ends it when it takes too long.
fn wait(child: &mut Child) -> io::Result<()> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not end"));
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// The first thing that it said on standard error, or how it ended.
pub(super) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(|| output.status.to_string(), |line| line.trim_start_matches("Error: ").to_owned())
}
