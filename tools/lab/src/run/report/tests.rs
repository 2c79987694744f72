//! Reports as documents, tables, folders and exit codes.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::scenario::Mode;

fn row(mode: Mode, goodput_bps: f64, paths: &[&[&str]]) -> Row {
    let stream = |(index, path): (usize, &&[&str])| StreamRow {
        src: [10, 0, index as u8 + 1, 1].into(),
        src_port: 40_000,
        dst: [10, 0, index as u8 + 1, 2].into(),
        dst_port: 5201,
        bytes: 1_000_000,
        path: path.iter().map(|name| (*name).to_owned()).collect(),
        devices: Vec::new(),
        path_changes: Vec::new(),
        intervals: vec![Interval { start: 0.5, end: 1.0, bps: goodput_bps / 2.0 }],
    };
    let mptcp = MptcpUse { connections: 2, joins: 2, fallbacks: 0, join_packet_ins: 4 };
    Row {
        variant: None,
        profile: None,
        congestion_control: None,
        mode,
        work: None,
        direction: RowDirection { from: "ams".to_owned(), to: "gva".to_owned() },
        connections: 1,
        run: None,
        goodput_bps,
        capacity_bps: 2e8,
        fraction_of_capacity: goodput_bps / 2e8,
        background_bps: None,
        seconds: 1.5,
        retransmits: 3,
        datagrams_lost: None,
        is_mixed: false,
        streams: paths.iter().enumerate().map(stream).collect(),
        mptcp: (mode == Mode::Mptcp).then_some(mptcp),
        delivery: None,
        intervals: [0.25, 0.75, 1.0]
            .iter()
            .enumerate()
            .map(|(index, share)| Interval {
                start: index as f64 / 2.0,
                end: (index + 1) as f64 / 2.0,
                bps: goodput_bps * share,
            })
            .collect(),
        cost: (mode == Mode::Mptcp)
            .then_some(CostRow { core_seconds_per_gbit: 1.234_5, socket_bytes: 9_876_543 }),
        events: Vec::new(),
        leaders: Vec::new(),
        requests: Vec::new(),
        captures: Vec::new(),
    }
}

fn lab() -> LabRow {
    let memory_bytes = BTreeMap::from([("ovs-vswitchd".to_owned(), 30_000_000)]);
    LabRow {
        variant: None,
        profile: None,
        congestion_control: None,
        switches: 4,
        hosts: 2,
        links: 8,
        seconds: 1.25,
        memory_bytes,
    }
}

fn report(mptcp_goodput: f64) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ams-gva.yaml");
    let tcp = row(Mode::Tcp, 9.5e7, &[&[]]);
    let mptcp = row(Mode::Mptcp, mptcp_goodput, &[&["ams1", "gva1"], &["ams2", "gva2"]]);
    Report::new(&Scenario::load(&path).unwrap(), vec![lab()], vec![tcp, mptcp])
}

#[test]
fn the_document_is_as_reviewed() {
    insta::assert_json_snapshot!(report(1.88e8));
}

#[test]
fn the_document_is_read_back_and_a_value_that_is_no_number_too() {
    let mut report = report(1.88e8);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    report.expectations[0].value = f64::NAN;
    let text = serde_json::to_string(&report).unwrap();
    assert!(serde_json::from_str::<Report>(&text).unwrap().expectations[0].value.is_nan());
}

#[test]
fn the_table_is_as_reviewed() {
    insta::assert_snapshot!(report(1.7e8).to_text());
}

#[test]
fn runs_and_numbers_of_streams_make_a_table_of_their_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ams-gva.yaml");
    let scenario = Scenario { expect: Vec::new(), ..Scenario::load(&path).unwrap() };
    let of = |variant: &str, mode, connections, run, goodput| Row {
        variant: Some(variant.to_owned()),
        connections,
        run: Some(run),
        ..row(mode, goodput, &[])
    };
    let mut rows = Vec::new();
    for (connections, more) in [(1, 0.0), (2, 1e6)] {
        rows.push(of("many", Mode::Mptcp, connections, 1, 1.8e8 + more));
        rows.push(of("many", Mode::Mptcp, connections, 2, 1.9e8 + more));
        rows.push(of("few", Mode::Tcp, connections, 1, 9.5e7 + more));
    }
    let sweep = Report::new(&scenario, Vec::new(), rows.clone()).to_text();
    rows.retain(|row| row.connections == 1);
    let runs = Report::new(&scenario, Vec::new(), rows).to_text();
    insta::assert_snapshot!(sweep + &runs);
}

#[test]
fn a_folder_gets_the_document_the_table_and_a_plot_of_each_transfer() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(1.88e8);
    report.write(folder.path()).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let document: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(document["rows"][1]["streams"][0]["intervals"][0]["bps"], 9.4e7);
    assert_eq!(read("table.txt"), report.to_text());
    let svg = read("streams/002-mptcp-ams-gva.svg");
    assert!(svg.contains("10.0.1.1:40000 ams1 gva1") && svg.contains("10.0.2.1:40000 ams2 gva2"));
    assert!(read("goodput.svg").contains("mptcp, ams &gt; gva") && read("over-time.svg").contains("tcp"));
    assert!(!folder.path().join("ranks.svg").exists());
}

#[test]
fn a_stream_that_moved_is_shown_with_both_paths_and_the_link_that_was_cut() {
    let mut report = report(1.88e8);
    let names = |path: [&str; 2]| path.map(str::to_owned);
    let row = &mut report.rows[1];
    row.events = vec![EventRow {
        at: 5.02,
        link: Some(names(["ams1", "gva1"])),
        controller: None,
        action: "cut".to_owned(),
    }];
    let paths = [(0.5, ["ams1", "gva1"]), (5.5, ["ams2", "gva2"])];
    let changes = paths.map(|(at, path)| PathChange { at, path: names(path).to_vec(), devices: Vec::new() });
    row.streams[0].path_changes = changes.to_vec();
    let text = report.to_text();
    assert!(text.contains("10.0.1.1:40000 ams1 gva1, from 5.5 s ams2 gva2"), "{text}");
    assert!(text.contains("events of each transfer: 5.0 s cut ams1 gva1"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    report.write(folder.path()).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let document: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(document["rows"][1]["events"][0]["action"], "cut");
    assert_eq!(document["rows"][1]["streams"][0]["path_changes"][1]["path"][0], "ams2");
    for plot in ["streams/002-mptcp-ams-gva.svg", "over-time.svg"] {
        assert!(read(plot).contains("cut ams1 gva1"), "{plot}");
    }
}

#[test]
fn a_transfer_far_behind_others_of_its_setting_is_shown_with_its_streams() {
    let mut report = report(1.88e8);
    let runs = |row: &Row| [Row { run: Some(1), ..row.clone() }, Row { run: Some(2), ..row.clone() }];
    report.rows = report.rows.iter().flat_map(runs).collect();
    assert!(!report.to_text().contains("far behind"), "{}", report.to_text());
    let slow = report.rows.iter_mut().rfind(|row| !row.streams.is_empty()).unwrap();
    slow.goodput_bps = 0.0;
    slow.streams[0].bytes = 1_500_000;
    let text = report.to_text();
    let lines = "far behind: mptcp ams > gva, run 2, 0.0 Mbit/s: ";
    assert!(text.contains(lines) && text.contains("\n  1.5 MB from 10.0.1.1:40000 ams1 gva1\n"), "{text}");
}

#[test]
fn what_happened_to_controllers_is_shown_for_each_transfer() {
    let mut report = report(1.88e8);
    let of = |name: &str| Some(name.to_owned());
    for (row, name) in report.rows.iter_mut().zip(["c1", "c2"]) {
        row.events = vec![EventRow { at: 5.0, link: None, controller: of(name), action: "kill".to_owned() }];
        let leader = |controller, start, end| LeaderRow { controller, start, end };
        row.leaders = vec![leader(of(name), 0.0, 5.1), leader(None, 5.1, 5.5), leader(of("c3"), 5.5, 9.0)];
    }
    let text = report.to_text();
    for line in [
        "events of tcp ams > gva: 5.0 s kill c1\n",
        "events of mptcp ams > gva: 5.0 s kill c2\n",
        "leaders of tcp ams > gva: c1, none from 5.10 s, c3 from 5.50 s\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn the_exit_code_tells_whether_everything_holds() {
    assert_eq!((report(1.88e8).exit_code(), report(1.7e8).exit_code()), (0, 5));
}

#[test]
fn profiles_have_a_line_each_with_their_ratios_and_what_is_published() {
    let text = include_str!("../../../tests/sites.yaml")
        .replace("  duration: 2s", "  duration: 2s\n  repeat: 3\n  average: median");
    let profiles = "profiles: [{ name: near, lines: [{}, {}], published: { others: 0.5 } }, { name: far, lines: [{}, {}] }]";
    let scenario = Scenario::parse(&format!("{text}{profiles}\n"), "sites.yaml")
        .unwrap_or_else(|error| panic!("{error}"));
    let of = |profile: &str, variant: &str, goodput: f64| {
        let run = |(run, factor): (u16, f64)| Row {
            profile: Some(profile.to_owned()),
            variant: Some(variant.to_owned()),
            run: Some(run),
            ..row(Mode::Tcp, goodput * factor, &[])
        };
        [(1, 0.5), (2, 1.0), (3, 1.1)].map(run)
    };
    let near = [of("near", "first", 20e6), of("near", "second", 10e6), of("near", "both", 27e6)];
    let far = [of("far", "first", 18e6), of("far", "second", 9e6), of("far", "both", 17e6)];
    let report = Report::new(&scenario, Vec::new(), near.into_iter().chain(far).flatten().collect());
    insta::assert_snapshot!(report.to_text());
    let back: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(back, report);
    let folder = tempfile::tempdir().unwrap();
    report.write(folder.path()).unwrap();
    let svg = std::fs::read_to_string(folder.path().join("profiles.svg")).unwrap();
    // What the bar shows has no mark, and `others` has one.
    assert!(svg.contains("others") && svg.contains("near") && !svg.contains(">\nboth\n<"), "{svg}");
    assert!(!folder.path().join("over-time.svg").exists());
}
