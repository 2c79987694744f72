//! The cost of a lab: time to build, processes and their memory.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use nix::unistd::Pid;

use super::report::LabRow;
use crate::deploy::Deployment;

/// The cost of building `lab`.
pub(super) fn of(lab: &Deployment, took: Duration) -> LabRow {
    let mut memory_bytes = BTreeMap::new();
    for process in lab.deployed.marker.processes() {
        if let Some((name, bytes)) = memory(process) {
            *memory_bytes.entry(name).or_default() += bytes;
        }
    }
    let plan = &lab.deployed.plan;
    let (switches, hosts, links) = (plan.switches.len(), plan.hosts.len(), plan.links.len());
    LabRow {
        variant: None,
        profile: None,
        congestion_control: None,
        switches,
        hosts,
        links,
        seconds: took.as_secs_f64(),
        memory_bytes,
    }
}

/// The name and resident memory of a process; `None` if it has ended.
fn memory(process: Pid) -> Option<(String, u64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = resident.split_whitespace().next()?.parse().ok()?;
    let command = fs::read_to_string(format!("/proc/{process}/cmdline")).ok()?;
    Some((name(&command)?, kilobytes.saturating_mul(1_024)))
}

/// The program's name, with Braid's subcommand, to distinguish the controller from agents.
fn name(command: &str) -> Option<String> {
    let mut words = command.split('\0');
    let program = words.next()?.trim_end_matches(':').rsplit('/').next()?.to_owned();
    match words.next() {
        Some(verb @ ("controller" | "host" | "lab")) => Some(format!("{program} {verb}")),
        _ => Some(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_named_for_people() {
        assert_eq!(name("/usr/bin/braid\0controller\0run\0").as_deref(), Some("braid controller"));
        assert_eq!(name("ovs-vswitchd\0unix:/x\0").as_deref(), Some("ovs-vswitchd"));
        assert_eq!(name("").as_deref(), Some(""));
    }

    #[test]
    fn memory_of_this_process_is_known_and_of_one_that_ended_is_not() {
        assert!(memory(Pid::this()).is_some_and(|(_, bytes)| bytes > 100_000));
        assert_eq!(memory(Pid::from_raw(i32::MAX)), None);
    }
}
