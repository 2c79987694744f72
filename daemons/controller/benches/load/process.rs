//! The controller under load: a process of its own on a core of its own.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use braid_load::Target;
use braid_tls::ClientConfig;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::tls;

/// The role of a process that [`Process::start`] started.
pub(crate) const ROLE: &str = "--role";

/// The variable that names the program of such processes: this benchmark of another commit, so that one generator loads the
/// controllers of both.
const PROGRAM: &str = "BRAID_LOAD_PROGRAM";

/// The folder of certificates of such a process.
pub(crate) const TLS: &str = "--tls";

/// What such a process is besides its role.
#[derive(Clone, Copy, Default)]
pub(crate) struct Setup<'a> {
    /// A folder with certificates: it speaks TLS.
    pub(crate) certificates: Option<&'a Path>,
    pub(crate) member: Option<Member<'a>>,
}

/// A place in a cluster.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) store: &'a str,
    pub(crate) cluster: &'a str,
    pub(crate) name: &'a str,
}

impl Member<'_> {
    pub(crate) const STORE: &'static str = "--store";
    pub(crate) const CLUSTER: &'static str = "--cluster";
    pub(crate) const NAME: &'static str = "--member";

    fn arguments(&self) -> [&str; 6] {
        [Self::STORE, self.store, Self::CLUSTER, self.cluster, Self::NAME, self.name]
    }
}

/// A process that serves switches; it ends when this is dropped.
pub(crate) struct Process {
    child: Child,
    openflow: SocketAddr,
    /// Where the controller answers questions; the responder has the first address twice.
    pub(crate) http: SocketAddr,
    /// The switches' side of TLS, if it speaks that.
    tls: Option<Arc<ClientConfig>>,
}

impl Process {
    /// Starts this program, or that of [`PROGRAM`], in another role.
    pub(crate) fn start(role: &str) -> Self {
        Self::start_with(role, Setup::default())
    }

    /// The same, set up like this.
    pub(crate) fn start_with(role: &str, Setup { certificates, member }: Setup<'_>) -> Self {
        let this = || std::env::current_exe().expect("the path of this program").into();
        let mut command = Command::new(std::env::var_os(PROGRAM).unwrap_or_else(this));
        command.args(certificates.into_iter().flat_map(|folder| [OsStr::new(TLS), folder.as_ref()]));
        command.args(member.iter().flat_map(Member::arguments));
        command.args(["--bench", ROLE, role]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("its addresses");
        let addresses: Vec<SocketAddr> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let [openflow, http] = addresses[..] else { panic!("{role} does not start: {line:?}") };
        Self { child, openflow, http, tls: certificates.map(tls::client) }
    }

    /// Where switches connect, and how.
    pub(crate) fn target(&self) -> Target {
        Target { address: self.openflow, tls: self.tls.clone() }
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Bytes of memory that it has now.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("procfs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1_024
    }

    /// How long it has had a core, all its threads together.
    pub(crate) fn time_on_core(&self) -> Duration {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("procfs");
        let times = tasks.flatten().filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(times.sum())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Says where to connect, and serves until the process that started this one ends or wants no more.
pub(crate) fn announce(openflow: SocketAddr, http: SocketAddr) {
    println!("{openflow} {http}");
}

/// This thread has a core only while no other wants it: it stands for somebody on another machine.
pub(crate) fn yield_to_others() {
    rustix::process::nice(15).expect("a lower priority");
}

/// Returns once nobody wants this process any more.
pub(crate) fn wait_until_dropped() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Keeps this thread, and those that it starts, on one of the cores that it may use.
pub(crate) fn pin(index: usize) {
    let may = sched_getaffinity(None).expect("the cores that may be used");
    let cores: Vec<_> = (0..CpuSet::MAX_CPU).filter(|core| may.is_set(*core)).collect();
    let mut one = CpuSet::new();
    one.set(cores[index % cores.len()]);
    sched_setaffinity(None, &one).expect("a core");
}
