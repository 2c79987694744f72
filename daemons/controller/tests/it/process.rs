//! A controller in a process of its own, whose memory and log are separate from other tests.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use braid_controller::Controller;
use tokio::sync::oneshot;

use crate::support::config;

/// Set where this program is to be the controller.
const ROLE: &str = "BRAID_TEST_CONTROLLER";
const SERVING: &str = "serving switches on ";

/// Stops when dropped.
pub(crate) struct ControllerProcess {
    child: Child,
    /// The end of its input stops the process.
    input: Option<ChildStdin>,
    pub(crate) openflow: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    reading: Option<JoinHandle<()>>,
}

impl ControllerProcess {
    pub(crate) fn start() -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let mut command = Command::new(program);
        command.args(["--exact", "process::is_the_controller_where_it_is_told_so", "--nocapture"]);
        command.env(ROLE, "1").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix(SERVING).map(str::to_owned));
        let openflow = address.and_then(|address| address.parse().ok()).expect("its address");
        let log = Arc::<Mutex<Vec<String>>>::default();
        let written = Arc::clone(&log);
        let read = move || lines.for_each(|line| lock(&written).push(line));
        Self { input: child.stdin.take(), child, openflow, log, reading: Some(thread::spawn(read)) }
    }

    /// Bytes of memory that it has now.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("procfs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }

    /// Whether it has logged a line with all of these words.
    pub(crate) fn has_logged(&self, words: &[&str]) -> bool {
        lock(&self.log).iter().any(|line| words.iter().all(|word| line.contains(word)))
    }

    /// What it has logged last.
    pub(crate) fn last_logged(&self) -> String {
        let log = lock(&self.log);
        log[log.len().saturating_sub(5)..].join("\n")
    }
}

impl Drop for ControllerProcess {
    fn drop(&mut self) {
        drop(self.input.take());
        let ended = self.child.wait();
        let _ = self.reading.take().map(JoinHandle::join);
        if !thread::panicking() {
            assert!(ended.is_ok_and(|status| status.success()), "{}", self.last_logged());
        }
    }
}

fn lock(log: &Mutex<Vec<String>>) -> std::sync::MutexGuard<'_, Vec<String>> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No test of its own: what [`ControllerProcess::start`] starts.
#[test]
fn is_the_controller_where_it_is_told_so() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stderr).init();
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let controller = Controller::bind(config(any, any, None)).expect("free ports");
    eprintln!("{SERVING}{}", controller.openflow());
    let (stop, stopped) = oneshot::channel::<()>();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(stop);
    });
    controller.serve(async { drop(stopped.await) }).expect("a clean end");
}
