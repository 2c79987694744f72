//! Sites of a lab: `braid site run` in both boxes, with keys and a file each.

use std::fmt::Write;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;

use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::plan::SitePlan;
use crate::system::Namespace;

const PORT: u16 = 51_820;
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Probes for the longest packet that a slow line carries take several round trips.
const PATHS_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// What headers of the tunnel take of a packet at most.
const MAX_HEADERS: usize = 100;

/// Both sites of a lab.
#[derive(Debug)]
pub(crate) struct Sites {
    braid: PathBuf,
    running: Mutex<Vec<Child>>,
}

/// Of the document of `braid site status --json`, what decides whether it is ready.
#[derive(Deserialize)]
struct Status {
    mtu: usize,
    peers: Vec<Peer>,
}

#[derive(Deserialize)]
struct Peer {
    paths: Vec<PathStatus>,
}

#[derive(Deserialize)]
struct PathStatus {
    up: bool,
    mtu: usize,
}

impl Sites {
    /// Starts both, if the plan has sites; all paths between them are up when this returns, and their lengths known.
    pub(crate) fn start(
        lab: &Deployed,
        braid: &Path,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>, LabError> {
        let [left, right] = lab.plan.sites.as_slice() else { return Ok(None) };
        let folder = lab.folder.sites();
        fs::create_dir(&folder).map_err(|error| LabError::file(&folder, error))?;
        let keys = [left, right].map(|site| key(lab, braid, site));
        let [left_key, right_key] = keys;
        write_file(lab, left, (right, &right_key?), true)?;
        write_file(lab, right, (left, &left_key?), false)?;
        let sites = Self { braid: braid.to_owned(), running: Mutex::default() };
        sites.run(lab, interrupt)?;
        Ok(Some(sites))
    }

    /// Ends both and starts them anew.
    pub(crate) fn restart(&self, lab: &Deployed, interrupt: &Interrupt) -> Result<(), LabError> {
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.into_iter().try_for_each(|child| stop(child, interrupt))?;
        self.run(lab, interrupt)
    }

    fn run(&self, lab: &Deployed, interrupt: &Interrupt) -> Result<(), LabError> {
        let mut started = Vec::new();
        for site in &lab.plan.sites {
            started.push(self.spawn(lab, site)?);
        }
        for (site, child) in lab.plan.sites.iter().zip(&mut started) {
            wait(lab, (site, child), START_TIMEOUT, interrupt, || has_started(lab, site))?;
        }
        for (site, child) in lab.plan.sites.iter().zip(&mut started) {
            wait(lab, (site, child), PATHS_TIMEOUT, interrupt, || is_ready(lab, site))?;
        }
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = started;
        Ok(())
    }

    fn spawn(&self, lab: &Deployed, site: &SitePlan) -> Result<Child, LabError> {
        let (said, log) = (said(lab, site), log(lab, site));
        let output = File::create(&said).map_err(|error| LabError::file(&said, error))?;
        let errors = OpenOptions::new().create(true).append(true).open(&log);
        let errors = errors.map_err(|error| LabError::file(&log, error))?;
        let tool = lab.tool(&self.braid.to_string_lossy()).args(["site", "run"]).arg(file(lab, site, "toml"));
        tool.within(&Namespace::named(&site.namespace)).spawn(Stdio::null(), output.into(), errors.into())
    }
}

fn file(lab: &Deployed, site: &SitePlan, kind: &str) -> PathBuf {
    lab.folder.sites().join(format!("{}.{kind}", site.name))
}

fn said(lab: &Deployed, site: &SitePlan) -> PathBuf {
    lab.folder.log().join(format!("site-{}.out", site.name))
}

fn log(lab: &Deployed, site: &SitePlan) -> PathBuf {
    lab.folder.log().join(format!("site-{}.log", site.name))
}

/// Makes the private key of a site; the public one.
fn key(lab: &Deployed, braid: &Path, site: &SitePlan) -> Result<String, LabError> {
    let tool = lab.tool(&braid.to_string_lossy()).args(["site", "keygen"]);
    Ok(tool.arg(file(lab, site, "key")).run()?.trim().to_owned())
}

fn write_file(lab: &Deployed, own: &SitePlan, peer: (&SitePlan, &str), dials: bool) -> Result<(), LabError> {
    let (path, socket) = (file(lab, own, "toml"), file(lab, own, "sock"));
    let text = configuration(own, &socket, peer, dials);
    fs::write(&path, text).map_err(|error| LabError::file(&path, error))
}

/// The file of a site, see docs/site.md.
fn configuration(own: &SitePlan, socket: &Path, (peer, key): (&SitePlan, &str), dials: bool) -> String {
    let mut text = format!("private_key = \"{}.key\"\nstatus = \"{}\"\n", own.name, socket.display());
    for uplink in &own.uplinks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[[uplink]]\ninterface = \"{}\"", uplink.interface);
    }
    let networks: Vec<_> = peer.networks.iter().map(|network| format!("\"{network}\"")).collect();
    let (name, networks) = (&peer.name, networks.join(", "));
    let _ = writeln!(text, "[[peer]]\nname = \"{name}\"\npublic_key = \"{key}\"\nnetworks = [{networks}]");
    for (uplink, there) in own.uplinks.iter().zip(&peer.uplinks).filter(|_| dials) {
        let (uplink, address) = (&uplink.interface, there.address);
        let _ = writeln!(text, "[[peer.path]]\nuplink = \"{uplink}\"\naddress = \"{address}:{PORT}\"");
    }
    text + "[lan]\n"
}

/// Waits until `missing` names nothing any more; the site must not end meanwhile.
fn wait(
    lab: &Deployed,
    (site, child): (&SitePlan, &mut Child),
    limit: Duration,
    interrupt: &Interrupt,
    mut missing: impl FnMut() -> Result<(), &'static str>,
) -> Result<(), LabError> {
    let mut last = "";
    let done = interrupt.poll(limit, || {
        let Err(what) = missing() else { return Ok(Some(())) };
        last = what;
        let ended = child.try_wait().map_err(|error| LabError::io("waiting for a site", error))?;
        ended.map_or(Ok(None), |status| Err(failure(lab, site, &format!("ended ({status})"))))
    })?;
    done.ok_or_else(|| failure(lab, site, &format!("{last} after {} s", limit.as_secs())))
}

fn has_started(lab: &Deployed, site: &SitePlan) -> Result<(), &'static str> {
    let text = fs::read_to_string(said(lab, site)).unwrap_or_default();
    text.contains('\n').then_some(()).ok_or("has not started")
}

/// All paths are up, and packets as long as lines carry them fit.
fn is_ready(lab: &Deployed, site: &SitePlan) -> Result<(), &'static str> {
    let status = status(&file(lab, site, "sock")).ok_or("does not say how it is")?;
    let least = usize::from(lab.plan.mtu).saturating_sub(MAX_HEADERS);
    let paths = status.peers.iter().flat_map(|peer| &peer.paths);
    let ready = paths.filter(|path| path.up && path.mtu >= least).count();
    match ready >= site.uplinks.len() && status.mtu >= least {
        true => Ok(()),
        false => Err("does not have all paths"),
    }
}

/// Its socket answers with the document of `braid site status --json`.
fn status(socket: &Path) -> Option<Status> {
    let mut text = String::new();
    UnixStream::connect(socket).ok()?.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn stop(mut child: Child, interrupt: &Interrupt) -> Result<(), LabError> {
    let failed = |error| LabError::io("ending a site", error);
    let id = i32::try_from(child.id()).unwrap_or(i32::MAX);
    kill(Pid::from_raw(id), Signal::SIGTERM).map_err(|error| failed(error.into()))?;
    let ended = interrupt.poll(STOP_TIMEOUT, || child.try_wait().map_err(failed))?;
    if ended.is_none() {
        child.kill().and_then(|()| child.wait()).map_err(failed)?;
    }
    Ok(())
}

fn failure(lab: &Deployed, site: &SitePlan, what: &str) -> LabError {
    let log = log(lab, site);
    let text = fs::read_to_string(&log).unwrap_or_default();
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
    LabError::Site { site: site.name.clone(), what: format!("{what} and said: {last}"), log }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::scenario::Scenario;

    #[test]
    fn the_file_of_the_site_that_dials_is_as_reviewed_and_the_other_one_has_no_paths() {
        let text = include_str!("../tests/sites.yaml");
        let scenario = Scenario::parse(text, "sites.yaml").unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan::new(&scenario, &"lab".parse().unwrap(), || false);
        let [office, branch] = &plan.sites[..] else { panic!("{:?}", plan.sites) };
        insta::assert_snapshot!(configuration(office, Path::new("/run/office.sock"), (branch, "KEY"), true));
        let answering = configuration(branch, Path::new("/run/branch.sock"), (office, "KEY"), false);
        assert!(answering.contains("networks = [\"10.1.1.0/24\", \"10.1.2.0/24\"]"), "{answering}");
        assert!(!answering.contains("peer.path"), "{answering}");
    }
}
