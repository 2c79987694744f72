//! Metrics of the process, with the names that Prometheus clients use, and of the build.

use std::fmt::Error;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::MetricFamily;

/// What `/proc` says of this process.
#[derive(Debug, Default)]
pub(super) struct Process {
    cpu_seconds: Option<f64>,
    start_time: Option<f64>,
    resident_bytes: Option<u64>,
    virtual_bytes: Option<u64>,
    open_fds: Option<u64>,
    max_fds: Option<u64>,
}

/// The version of this build.
#[derive(Debug)]
pub(super) struct Build;

impl Process {
    pub(super) fn read() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let boot = fs::read_to_string("/proc/stat").ok().and_then(|text| boot_time(&text));
        let (ticks, page) = (rustix::param::clock_ticks_per_second(), rustix::param::page_size() as u64);
        Self {
            open_fds: fs::read_dir("/proc/self/fd").ok().map(|fds| fds.count() as u64),
            max_fds: rustix::process::getrlimit(rustix::process::Resource::Nofile).current,
            ..Self::of(&stat, boot, ticks, page)
        }
    }

    /// From `/proc/self/stat`, see proc(5), and the time at which the machine started.
    fn of(stat: &str, boot: Option<f64>, ticks: u64, page: u64) -> Self {
        // The command's name may contain anything; it ends with the last parenthesis, and the third field follows.
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let seconds = |count: u64| count as f64 / ticks.max(1) as f64;
        Self {
            cpu_seconds: field(14).zip(field(15)).map(|(user, system)| seconds(user.saturating_add(system))),
            start_time: boot.zip(field(22)).map(|(boot, start)| boot + seconds(start)),
            virtual_bytes: field(23),
            resident_bytes: field(24).map(|pages| pages.saturating_mul(page)),
            ..Self::default()
        }
    }
}

/// When the machine started, in seconds since 1970.
fn boot_time(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

/// Name, help and value.
type Gauge = (&'static str, &'static str, fn(&Process) -> Option<f64>);

const CPU: (&str, &str) = ("process_cpu_seconds", "Time on processors, of the system included");
const GAUGES: [Gauge; 5] = [
    ("process_start_time_seconds", "When the process started", |it| it.start_time),
    ("process_resident_memory_bytes", "Resident memory", |it| Some(it.resident_bytes? as f64)),
    ("process_virtual_memory_bytes", "Virtual memory", |it| Some(it.virtual_bytes? as f64)),
    ("process_open_fds", "Open file descriptors", |it| Some(it.open_fds? as f64)),
    ("process_max_fds", "The most file descriptors that may be open", |it| Some(it.max_fds? as f64)),
];
const BUILD: (&str, &str) = ("build_info", "Version of the controller");
const VERSION: &str = "version";

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    let gauges = GAUGES.into_iter().map(|(name, help, _)| MetricFamily::gauge(name, help, &[]));
    [MetricFamily::counter(CPU.0, CPU.1, &[])].into_iter().chain(gauges)
}

pub(super) fn build_family() -> MetricFamily {
    MetricFamily::gauge(BUILD.0, BUILD.1, &[VERSION])
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        if let Some(seconds) = self.cpu_seconds {
            let metric = encoder.encode_descriptor(CPU.0, CPU.1, None, MetricType::Counter)?;
            ConstCounter::new(seconds).encode(metric)?;
        }
        for (name, help, value) in GAUGES {
            let Some(value) = value(self) else { continue };
            ConstGauge::new(value).encode(encoder.encode_descriptor(
                name,
                help,
                None,
                MetricType::Gauge,
            )?)?;
        }
        Ok(())
    }
}

impl Collector for Build {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut metric = encoder.encode_descriptor(BUILD.0, BUILD.1, None, MetricType::Gauge)?;
        let labels = [(VERSION, env!("CARGO_PKG_VERSION"))];
        ConstGauge::new(1_u64).encode(metric.encode_family(&labels)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_the_end_of_the_command() {
        let stat =
            "7 (a) b) S 1 7 7 0 -1 4194560 5 0 0 0 150 50 0 0 20 0 6 0 1000 4096 3 18446744073709551615 1";
        let process = Process::of(stat, Some(1_700_000_000.0), 100, 4_096);
        assert_eq!((process.cpu_seconds, process.start_time), (Some(2.0), Some(1_700_000_010.0)));
        assert_eq!((process.virtual_bytes, process.resident_bytes), (Some(4_096), Some(12_288)));
        for short in ["", "7 (a", "7 (a)", "7 (a) S 1"] {
            assert_eq!(Process::of(short, None, 100, 4_096).cpu_seconds, None, "{short}");
        }
        assert_eq!(boot_time("cpu 1 2\nbtime 1700000000\nprocesses 9"), Some(1_700_000_000.0));
    }

    #[test]
    fn this_process_has_memory_and_files() {
        let Process { resident_bytes, open_fds, start_time, .. } = Process::read();
        assert!(resident_bytes > Some(0) && open_fds > Some(2) && start_time > Some(1.5e9));
    }
}
