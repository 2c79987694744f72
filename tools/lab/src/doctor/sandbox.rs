//! A temporary network namespace for trying kernel features.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::process::{self, Child, Command, Output, Stdio};
use std::thread;

use nix::sched::{CloneFlags, setns};

use super::command::{complaint, program, run};
use super::kernel::is_root;
use super::report::Finding;

/// A temporary network namespace.
///
/// It has no name and belongs to a child process that reads from this one, so it ends with this process, even after a
/// crash.
pub(super) struct Sandbox(Result<Holder, String>);

struct Holder {
    child: Child,
    /// Without root the namespace is inside a user namespace, in which the caller is root.
    user: bool,
}

impl Sandbox {
    /// Makes a namespace, or keeps the error.
    pub(super) fn open() -> Self {
        Self(Holder::start().map_err(|error| match error.kind() {
            ErrorKind::NotFound => "could not be tried: unshare (util-linux) is not installed".to_owned(),
            _ => format!("could not be tried: {error}"),
        }))
    }

    /// Whether a veth pair can be made; [`Self::qdisc`] uses it.
    pub(super) fn veth(&self) -> Finding {
        self.attempt("ip", &["link", "add", "name", "braid0", "type", "veth", "peer", "name", "braid1"])
    }

    /// Whether interfaces can have a queueing discipline of this kind.
    pub(super) fn qdisc(&self, kind: &str, options: &[&str]) -> Finding {
        let device = ["qdisc", "replace", "dev", "braid0", "root", kind];
        self.attempt("tc", &[&device, options].concat())
    }

    /// Whether a VXLAN tunnel can be made.
    pub(super) fn vxlan(&self) -> Finding {
        self.attempt("ip", &["link", "add", "name", "braid2", "type", "vxlan", "id", "1", "dstport", "4789"])
    }

    /// Whether `ip` and the kernel agree on how MPTCP is set up.
    pub(super) fn ip_mptcp(&self) -> Finding {
        self.attempt("ip", &["mptcp", "limits", "show"])
    }

    /// Whether the link emulator works, tried on the interfaces of [`Self::veth`].
    pub(super) fn user_space_link(&self) -> Finding {
        let holder = match &self.0 {
            Ok(holder) if !holder.user => holder,
            // Only a single-threaded process can enter a user namespace.
            Ok(_) => {
                return Finding::unusable("could not be tried without root").with_fix("run this as root");
            }
            Err(error) => return Finding::unusable(error).with_fix("run this as root"),
        };
        match holder.inside(|| braid_link::probe(["braid0", "braid1"])) {
            Ok(Ok(())) => Finding::ok("works"),
            Ok(Err(error)) => Finding::unusable(error.to_string()),
            Err(error) => Finding::unusable(format!("could not be tried: {error}")),
        }
    }

    fn attempt(&self, name: &str, arguments: &[&str]) -> Finding {
        let holder = match &self.0 {
            Ok(holder) => holder,
            Err(error) => return Finding::unusable(error).with_fix("run this as root"),
        };
        match run(holder.command(name, arguments), "") {
            Ok(output) if is_absent(&output) => {
                Finding::missing(format!("could not be tried: {name} is not installed"))
                    .with_fix("apt install iproute2")
            }
            Ok(output) => judge(&output),
            Err(error) => Finding::unusable(format!("could not be tried: {error}")),
        }
    }
}

/// Whether `nsenter` found no such program: what is missing is not the kernel's.
fn is_absent(output: &Output) -> bool {
    !output.status.success() && complaint(output).contains("failed to execute")
}

impl Holder {
    fn start() -> io::Result<Self> {
        let user = !is_root()?;
        let mut arguments = vec!["--net"];
        if user {
            arguments.extend(["--user", "--map-root-user"]);
        }
        // Its line reports that the namespace exists.
        arguments.extend(["--", "sh", "-c", "echo; exec cat"]);
        let mut command = program("unshare", &arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take();
        stdout.map(BufReader::new).map_or(Ok(0), |mut out| out.read_line(&mut line))?;
        if line.is_empty() {
            let output = child.wait_with_output()?;
            return Err(io::Error::other(complaint(&output)));
        }
        Ok(Self { child, user })
    }

    /// Runs `action` on a thread of its own inside the namespace.
    fn inside<T: Send>(&self, action: impl FnOnce() -> T + Send) -> io::Result<T> {
        let namespace = File::open(format!("/proc/{}/ns/net", self.child.id()))?;
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(namespace, CloneFlags::CLONE_NEWNET)?;
                Ok(action())
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// A program inside the namespace.
    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let target = self.child.id().to_string();
        let mut enter = vec!["--target", &target, "--net"];
        if self.user {
            enter.extend(["--user", "--preserve-credentials"]);
        }
        enter.extend(["--", name]);
        enter.extend(arguments);
        program("nsenter", &enter)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It also ends by itself once its input is closed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a network namespace can be made and deleted, by name, as labs do.
pub(super) fn named_namespace() -> Finding {
    let name = format!("braid-doctor-{}", process::id());
    // One process makes and deletes it, even if this one is killed meanwhile.
    let batch = format!("netns add {name}\nnetns del {name}\n");
    match run(program("ip", &["-batch", "-"]), &batch) {
        Ok(output) if output.status.success() => Finding::ok("made and deleted"),
        Ok(output) => {
            let fix = is_root().is_ok_and(|root| !root).then_some("run this as root");
            let finding = Finding::unusable(complaint(&output));
            fix.map_or(finding.clone(), |fix| finding.with_fix(fix))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Finding::unusable("could not be tried: ip is not installed").with_fix("apt install iproute2")
        }
        Err(error) => Finding::unusable(error.to_string()),
    }
}

fn judge(output: &Output) -> Finding {
    if output.status.success() {
        return Finding::ok("works");
    }
    let complaint = complaint(output);
    // The errors of the kernel, tc and ip for unknown kinds and objects.
    let unknown = ["unknown", "Unknown", "not found", "not supported"];
    match unknown.iter().any(|text| complaint.contains(text)) {
        true => Finding::missing(complaint),
        false => Finding::unusable(complaint),
    }
}
