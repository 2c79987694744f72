//! What else ran on the machine: processes that are not of the run, time taken by the host, and waiting for processors; and
//! whether the machine stood still.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::stalls::StallWatch;

/// The time between two looks at the processes.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// The time before a run in which nothing of it is there yet.
const IDLE_TIME: Duration = Duration::from_secs(1);
/// The share of all processors that others may take.
const MAX_OTHERS: f64 = 0.05;
/// The share of all processors that the host may take.
const MAX_STEAL: f64 = 0.02;
/// The share of time in which something may wait for a processor before the run.
const MAX_PRESSURE_BEFORE: f64 = 0.1;
/// The longest time for which the machine may stand still, in seconds: queues of the testbeds hold no more.
const MAX_STALL: f64 = 0.1;
/// USER_HZ, in which /proc counts on all architectures of Linux.
const TICKS_PER_SECOND: f64 = 100.0;
/// The parent of the kernel's threads.
const KERNEL_THREADS: u32 = 2;

/// The load beside a run. Shares are of all processors' time, from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Load {
    /// Taken by processes that are not of the run; a process shorter than half a second may be missed.
    pub others: f64,
    /// Taken by the host of a virtual machine (`steal` in /proc/stat).
    pub steal: f64,
    /// The share of the second before the run in which something waited for a processor (/proc/pressure/cpu).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure_before: Option<f64>,
    /// The same during the run, its own processes included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// The longest time for which the machine stood still, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<f64>,
}

impl Load {
    /// Whether it is too much for figures that count.
    pub fn is_disturbing(&self) -> bool {
        let waited = self.pressure_before.is_some_and(|it| it > MAX_PRESSURE_BEFORE);
        let stood_still = self.stall.is_some_and(|it| it > MAX_STALL);
        self.others > MAX_OTHERS || self.steal > MAX_STEAL || waited || stood_still
    }

    /// How much there was, to compare two attempts; never by their figures.
    pub(crate) fn weight(&self) -> f64 {
        self.others + self.steal + self.pressure_before.unwrap_or(0.0) + self.stall.unwrap_or(0.0)
    }
}

/// A watch over the machine while a run goes on.
#[derive(Debug)]
pub struct LoadWatch {
    stop: Arc<AtomicBool>,
    looks: JoinHandle<f64>,
    stalls: StallWatch,
    start: Instant,
    steal: f64,
    before: Option<f64>,
    waited: Option<f64>,
}

impl LoadWatch {
    /// Looks at the idle machine for a second, and then begins.
    pub fn start() -> Self {
        let (idle, waited) = (Instant::now(), waited());
        thread::sleep(IDLE_TIME);
        let before = share(waited, self::waited(), idle.elapsed());
        let stop = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&stop);
        let looks = thread::spawn(move || others(&watched));
        let (stalls, start) = (StallWatch::start(), Instant::now());
        Self { stop, looks, stalls, start, steal: steal(), before, waited: self::waited() }
    }

    /// Ends, with the load since the start.
    pub fn finish(self) -> Load {
        self.stop.store(true, Ordering::Relaxed);
        let elapsed = self.start.elapsed();
        let all = elapsed.as_secs_f64().max(1e-3)
            * thread::available_parallelism().map_or(1.0, |it| it.get() as f64);
        let steal = (steal() - self.steal) / all;
        let stall = self.stalls.finish().map(|longest| longest.as_secs_f64());
        let pressure = share(self.waited, waited(), elapsed);
        // A watch that failed is no quiet machine.
        let others = self.looks.join().map_or(f64::MAX, |seconds| seconds / all);
        Load { others, steal, pressure_before: self.before, pressure, stall }
    }
}

fn share(before: Option<f64>, after: Option<f64>, elapsed: Duration) -> Option<f64> {
    Some(((after? - before?) / elapsed.as_secs_f64().max(1e-3)).clamp(0.0, 1.0))
}

/// Seconds since boot in which something waited for a processor; `None` without PSI.
fn waited() -> Option<f64> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let total = text.lines().find(|line| line.starts_with("some"))?.split("total=").nth(1)?;
    total.trim().parse::<f64>().ok().map(|micros| micros / 1e6)
}

/// Seconds since boot that the host took of all processors.
fn steal() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = text.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse::<f64>().ok());
    ticks.unwrap_or(0.0) / TICKS_PER_SECOND
}

/// Seconds of processors that other processes took until `stop`.
fn others(stop: &AtomicBool) -> f64 {
    let mut known: BTreeMap<(u32, u64), Process> = processes().into_iter().map(|it| (it.key(), it)).collect();
    let mut ticks = 0;
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK_INTERVAL);
        let now: BTreeMap<_, _> = processes().into_iter().map(|it| (it.key(), it)).collect();
        let own = own(&now, &known);
        for (key, process) in &now {
            if !own.contains_key(&key.0) {
                ticks += process.ticks.saturating_sub(known.get(key).map_or(0, |it| it.ticks));
            }
        }
        known = now;
        known.iter_mut().for_each(|(key, it)| it.own = own.contains_key(&key.0));
    }
    ticks as f64 / TICKS_PER_SECOND
}

/// A process as /proc/PID/stat describes it.
#[derive(Clone, Copy, Debug)]
struct Process {
    pid: u32,
    parent: u32,
    /// Time of processors, in user and kernel mode.
    ticks: u64,
    started: u64,
    /// Whether it is of the run.
    own: bool,
}

impl Process {
    /// Ids return, but not with the same start.
    const fn key(&self) -> (u32, u64) {
        (self.pid, self.started)
    }

    /// The name in parentheses may have anything in it.
    fn parse(text: &str) -> Option<Self> {
        let pid = text.split_whitespace().next()?.parse().ok()?;
        let fields: Vec<_> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let parent = u32::try_from(number(1)?).ok()?;
        Some(Self { pid, parent, ticks: number(11)? + number(12)?, started: number(19)?, own: false })
    }
}

fn processes() -> Vec<Process> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter(|it| it.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()));
    let texts = pids.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    texts.filter_map(|text| Process::parse(&text)).collect()
}

/// Those that are of the run or the kernel's: this process, its descendants, and those with a lab's marker.
fn own(now: &BTreeMap<(u32, u64), Process>, before: &BTreeMap<(u32, u64), Process>) -> BTreeMap<u32, ()> {
    let mut own = BTreeMap::from([(std::process::id(), ()), (KERNEL_THREADS, ())]);
    for (key, process) in now {
        let was = before.get(key);
        if was.is_some_and(|it| it.own) || (was.is_none() && is_marked(process.pid)) {
            own.insert(process.pid, ());
        }
    }
    loop {
        let more: Vec<_> = now
            .values()
            .filter(|it| own.contains_key(&it.parent) && !own.contains_key(&it.pid))
            .map(|it| it.pid)
            .collect();
        if more.is_empty() {
            return own;
        }
        own.extend(more.into_iter().map(|pid| (pid, ())));
    }
}

fn is_marked(pid: u32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let marker = format!("{}=", braid_lab::MARKER_VARIABLE);
    environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(marker.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_whose_name_looks_like_fields_is_read() {
        let text = "42 (a) R 1 (b) S 7 1 1 0 -1 0 0 0 0 0 11 22 0 0 20 0 1 0 99 0 0";
        let process = Process::parse(text).unwrap();
        assert_eq!((process.pid, process.parent, process.ticks, process.started), (42, 7, 33, 99));
        assert!(Process::parse("42 (a").is_none() && Process::parse("").is_none());
    }

    #[test]
    fn descendants_and_kernel_threads_are_own_and_strangers_are_not() {
        let process = |pid, parent| Process { pid, parent, ticks: 1, started: 5, own: false };
        let me = std::process::id();
        let (child, grandchild, stranger, thread) = (me + 10, me + 11, me + 12, me + 13);
        let all = [
            process(me, 1),
            process(grandchild, child),
            process(child, me),
            process(stranger, 1),
            process(thread, 2),
        ];
        let all: BTreeMap<_, _> = all.into_iter().map(|it| (it.key(), it)).collect();
        let own = own(&all, &all);
        assert!([me, child, grandchild, thread].iter().all(|pid| own.contains_key(pid)));
        assert!(!own.contains_key(&stranger));
    }

    #[test]
    fn load_of_others_and_the_host_disturbs_and_the_run_s_own_does_not() {
        let quiet = Load { pressure: Some(0.9), pressure_before: Some(0.01), ..Load::default() };
        assert!(!quiet.is_disturbing());
        assert!(Load { others: 0.2, ..quiet }.is_disturbing());
        assert!(Load { steal: 0.1, ..quiet }.is_disturbing());
        assert!(Load { pressure_before: Some(0.5), ..quiet }.is_disturbing());
        assert!(Load { stall: Some(0.2), ..quiet }.is_disturbing());
        assert!(!Load { stall: Some(0.05), ..quiet }.is_disturbing());
    }
}
