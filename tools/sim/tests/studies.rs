//! Studies of all kinds, small ones, from their text to their report.

use braid_sim::experiment::Cancel;
use braid_sim::study::Changes;
use braid_sim::{ReportKind, StudyKind};

const WORKLOAD: &str = "
simulation: small workload
kind: workload
network: fattree:4
rate: 100Mbit
delay: 20us
control: cubic
measured: 300ms
seeds: 2
sizes: web-search
short: 100000
large: 1000000
loads: [20, 40]
methods:
  - { name: ECMP, small: { scheme: shortest:4/random }, large: { scheme: shortest:4/random } }
  - { name: M, small: { scheme: shortest:4/random }, large: { scheme: shortest:4/least-loaded, subflows: 2, set_up: 1ms } }
expect:
  - { name: not much worse, method: M, relative_to: ECMP, load: 40, at_most: 1.5 }
  - { name: nor for large ones, method: M, relative_to: ECMP, load: 40, of: large, value: mean, at_most: 1.5 }
";

const PATHS: &str = "
simulation: two of three
kind: convergence
links:
  - { between: [a, b], rate: 10Mbit, delay: 2ms, queue: 20 packets }
  - { between: [a, c], rate: 10Mbit, delay: 2ms, queue: 20 packets }
  - { between: [b, d], rate: 10Mbit, delay: 2ms, queue: 20 packets }
  - { between: [c, d], rate: 10Mbit, delay: 2ms, queue: 20 packets }
  - { between: [b, c], rate: 10Mbit, delay: 2ms, queue: 20 packets }
paths:
  1 over b: [a, b, d]
  2 over c: [a, c, d]
  3 over both: [a, b, c, d]
controls: [olia, balia]
capacity: 20Mbit
hold_sender: true
advice: 10s
settle: 20s
measured: 20s
sample: 1s
seeds: 2
keep: [1 over b, 2 over c]
expect:
  - { name: OLIA keeps to two, control: olia, at_least: 0.85 }
  - { name: so does who is advised, control: balia, advised: true, at_least: 0.99 }
";

fn run(text: &str, threads: usize) -> ReportKind {
    let study = StudyKind::parse(text, "test").unwrap();
    study.run(threads, u64::MAX, &Cancel::default(), &|_| {}).unwrap()
}

fn json(report: &ReportKind) -> String {
    let text = format!("{report:?}");
    // How long the machine took.
    text.split(", seconds: ").next().unwrap_or_default().to_owned()
}

#[test]
fn mix_has_as_much_traffic_as_its_load_says_and_does_not_depend_on_threads() {
    let report = run(WORKLOAD, 1);
    assert_eq!(json(&report), json(&run(WORKLOAD, 3)));
    let ReportKind::Workload(report) = &report else { panic!("{report:?}") };
    assert_eq!((report.rows.len(), report.complete), (4, true));
    for row in &report.rows {
        // 16 hosts, 0.3 s, two runs, a mean of 1.7 MB with its headers: 0.073 s a flow and host at full load.
        let expected = row.load * 16.0 * 0.3 * 2.0 / (1.72e6 * 8.0 / 1e8);
        let all = row.all.flows as f64;
        assert!((all / expected - 1.0).abs() < 0.5, "{all} of {expected}");
        assert!(row.short.flows > 0 && row.short.median <= row.short.p99 && row.all.unfinished == 0);
    }
    let counts = |load: f64| report.rows.iter().filter(move |row| row.load == load).map(|row| row.all.flows);
    assert!(
        [0.2, 0.4].iter().all(|load| counts(*load).min() == counts(*load).max()),
        "all carry the same flows"
    );
    assert_eq!(ReportKind::Workload(report.clone()).csv().lines().count(), 5);
}

#[test]
fn connection_keeps_to_paths_without_a_common_link() {
    let report = run(PATHS, 2);
    assert!(report.plot(None).unwrap().contains("1 over b"));
    assert_eq!(report.csv().lines().count(), 1 + 4 * 40 * 3);
    let ReportKind::Convergence(report) = &report else { panic!("{report:?}") };
    for row in &report.rows {
        assert!(row.kept > 0.8 && row.fraction_of_capacity > 0.8, "{row:?}");
    }
}

#[test]
fn what_is_changed_is_run() {
    let control = Some("olia".parse().unwrap());
    let changes = Changes { seeds: Some(1), control, ..Changes::default() };
    for (text, runs) in [(WORKLOAD, 4), (PATHS, 2)] {
        assert_eq!(StudyKind::parse(text, "test").unwrap().with(changes.clone()).runs(), runs);
    }
}

#[test]
fn mistakes_are_named() {
    for (text, from, to, message) in [
        (WORKLOAD, "kind: workload", "kind: bag", "test:3:7: "),
        (WORKLOAD, "sizes: web-search", "sizes: equal", "\"equal\" is no distribution of sizes"),
        (WORKLOAD, "loads: [20, 40]", "loads: [20, 100]", "a load of 100 % is not between 0 and 100"),
        (WORKLOAD, "loads: [20, 40]", "loads: []", "nothing is compared"),
        (WORKLOAD, "load: 40", "load: 50", "M and ECMP are not both run at 50 %"),
        (PATHS, "[a, b, c, d]", "[a, d]", "path 3 over both does not follow links"),
        (PATHS, "[a, b, c, d]", "[a, x, d]", "no link leads to x"),
        (PATHS, "keep: [1 over b, 2 over c]", "keep: [4]", "there is no path 4 to keep to"),
        (PATHS, "control: olia", "control: lia", "OLIA keeps to two: lia is not run"),
        (PATHS, "rate: 10Mbit", "rate: 1bit", "a link takes 8kbit at least"),
    ] {
        let error = StudyKind::parse(&text.replacen(from, to, 1), "test").unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let missing = StudyKind::load("/nowhere.yaml".as_ref()).unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere.yaml: cannot be read"), "{missing}");
}

#[test]
fn mixes_that_cannot_be_run_are_refused() {
    let refused = |from: &str, to: &str| {
        let study = StudyKind::parse(&WORKLOAD.replacen(from, to, 1), "test").unwrap();
        study.run(1, 1 << 30, &Cancel::default(), &|_| {}).unwrap_err().to_string()
    };
    assert!(refused("fattree:4", "fattree:5").contains("even number"));
    assert!(refused("subflows: 2", "subflows: 17").contains("a connection takes 1 to 16"));
    assert!(refused("delay: 20us", "queue: 99999999999 packets").contains("MB are free"));
}
