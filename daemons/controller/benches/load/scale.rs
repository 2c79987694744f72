//! A FatTree of 1,280 switches: its map, the network at rest, connections at a rate, more of them than the controller takes, and the death
//! of a core switch.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use braid_load::discovery::{self, Busy, Plan, Reading, Report};
use braid_load::{Layout, raise_file_limit};
use braid_topology::generate::{Links, fat_tree};

use crate::process::Process;
use crate::report;

const K: usize = 32;
const LIMIT: Duration = Duration::from_secs(60);
const HOLD: Duration = Duration::from_secs(30);
const CONNECTIONS: f64 = 20_000.0;
const OVERLOAD: Duration = Duration::from_secs(60);
const ASK_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) fn run() {
    raise_file_limit();
    let layout = Layout::from(&fat_tree(K, Links::default()).expect("a size that there is"));
    println!("FatTree, k = {K}: {} switches, {} hosts", layout.dpids.len(), layout.hosts.len());
    let controller = Process::start("controller");
    let plan = Plan {
        to: controller.target().address,
        limit: LIMIT,
        hold: HOLD,
        hosts: true,
        connections: Some(CONNECTIONS),
        overload: OVERLOAD,
        rolling: None,
        pod: false,
        death: true,
        process: Some(controller.id()),
    };
    let reading = ask(&controller);
    let last = || reading.lock().ok().and_then(|reading| *reading);
    let report = discovery::run(&layout, plan, &last, &mut |_| {}).expect("a controller that answers");
    tell(&report);
}

/// Asks the controller again and again, on a thread that ends with it.
fn ask(controller: &Process) -> Arc<Mutex<Option<Reading>>> {
    let (reading, http) = (Arc::new(Mutex::new(Some(Reading::default()))), controller.http);
    let shared = reading.clone();
    thread::spawn(move || {
        while let Some(totals) = report::totals(http) {
            let now = Reading::of(|name| totals.get(name).copied());
            *shared.lock().expect("nobody panics") = Some(now);
            thread::sleep(ASK_INTERVAL);
        }
    });
    reading
}

fn tell(report: &Report) {
    let mega = |bytes: Option<u64>| bytes.unwrap_or_default() as f64 / 1e6;
    let cores = |cores: Option<f64>| cores.unwrap_or(f64::INFINITY);
    row("time to the whole map, s", report.complete_after.unwrap_or(f64::INFINITY), 15.0);
    row("cores at rest", cores(report.rest.cores), 0.2);
    row("greatest memory, MB", mega(report.peak_memory), 400.0);
    report.connections.iter().for_each(|busy| describe("connections", busy));
    report.overload.iter().for_each(|busy| describe("overload", busy));
    if let Some(overload) = report.overload {
        row("echo under overload, p99, ms", 1e3 * overload.echo.p99, 200.0);
        row("until all echoes are answered, s", overload.answered_after.unwrap_or(f64::INFINITY), 2.0);
    }
    row("links lost", report.lost_links as f64, 0.0);
    row("alarms", report.alarms as f64, 0.0);
    row("connections of switches closed", report.closures as f64, 0.0);
    if let Some(death) = report.death {
        println!("  {:34} {:10}", "changes as a core switch dies", death.changes);
        row("the last of them after, ms", 1e3 * death.last_change_after.unwrap_or_default(), 500.0);
    }
}

fn row(what: &str, figure: f64, most: f64) {
    let verdict = if figure <= most { "met" } else { "not met" };
    println!("  {what:34} {figure:10.2} of at most {most}: {verdict}");
}

fn describe(what: &str, busy: &Busy) {
    let (it, echo) = (busy.connections, busy.echo);
    println!(
        "  {what:34} {:10.0} a second offered, {:.1} times what was answered; {} of {} dropped by switches; \
         echo p50 {:.2} ms, p99 {:.2} ms",
        it.offered as f64 / it.seconds,
        it.overload(),
        it.dropped,
        it.offered,
        1e3 * echo.p50,
        1e3 * echo.p99,
    );
}
