//! Links with delay in labs on a real kernel; benchmarks measure their precision.

mod support;

use std::process::Command;
use std::time::Duration;

use braid_lab::{
    Interrupt, LabError, LabName, LabState, Labs, LinkBackend, LinkEdit, LinkInspection, LinkProcess,
    Scenario, WhichLink,
};
use braid_link_model::Change;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::{
    Bench, CHAIN, bench, fresh_name, helper_task, in_namespace, learning, learning_at, left_of, start_helper,
    transfer,
};

/// As [`bench`], with links in user space by this program, also where the kernel has netem.
fn linked() -> Option<Bench> {
    let bench = bench()?;
    let labs = with_links(bench.labs);
    Some(Bench { labs, ..bench })
}

fn with_links(labs: Labs) -> Labs {
    let program = std::env::current_exe().unwrap();
    let args = ["--exact", "helper_links", "--nocapture"].map(Into::into).to_vec();
    labs.without_netem().with_link_process(LinkProcess { program, args })
}

/// The process of the links, when a lab has started it.
#[test]
fn helper_links() {
    if std::env::var_os("BRAID_LAB_MARKER").is_some() {
        panic!("{}", braid_link::serve(std::io::stdin()).unwrap_err());
    }
}

/// Two hosts, two switches, and a link of 5 ms between these.
fn far() -> Scenario {
    let text =
        CHAIN.replace("[s, t], rate: 100Mbit", "[s, t], rate: 100Mbit, delay: 5ms, reverse: { delay: 7ms }");
    Scenario::parse(&text, "far.yaml").unwrap()
}

fn change(text: &str) -> Change {
    serde_json::from_str(text).unwrap()
}

fn which(from: &str, to: &str) -> WhichLink {
    WhichLink { from: from.to_owned(), to: to.to_owned(), nth: None }
}

fn link(labs: &Labs, name: &LabName, from: &str) -> LinkInspection {
    labs.links(name).unwrap().into_iter().find(|link| link.ends[0].name == from).unwrap()
}

#[test]
fn a_link_with_delay_carries_tcp_counts_its_frames_and_leaves_nothing() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    let lab = bench.labs.deploy(&far(), &name, &learning(), &Interrupt::default()).unwrap();
    let (a, b) = (name.host_namespace("a"), name.host_namespace("b"));
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|it| it as u8).collect();
    assert!(transfer(&a, &b, "10.9.0.2:7000", &bytes) == bytes);
    assert!(transfer(&b, &a, "[2001:db8::1]:7000", &bytes) == bytes);
    let link = link(&bench.labs, &name, "s");
    assert_eq!((link.backend, link.up), (LinkBackend::UserSpace, true));
    assert_eq!(
        link.ends.each_ref().map(|end| end.parameters.delay.to_string()),
        ["5ms", "7ms"].map(str::to_owned)
    );
    for counters in link.ends.map(|end| end.counters.unwrap()) {
        assert!(counters.model.delivered.bytes > 1_000_000, "{counters:?}");
        assert_eq!((counters.port.missed, counters.port.too_long), (0, 0));
    }
    lab.destroy().unwrap();
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

#[test]
fn a_tunnel_carries_tcp_over_links_of_both_kinds_is_cut_like_a_link_and_leaves_nothing() {
    let Some(bench) = linked() else { return };
    for more in ["", ", delay: 5ms"] {
        let text =
            CHAIN.replace("[s, t], rate: 100Mbit", &format!("[s, t], tunnel: vxlan, rate: 100Mbit{more}"));
        let scenario = Scenario::parse(&text, "tunnel.yaml").unwrap();
        let name = fresh_name();
        bench.labs.deploy(&scenario, &name, &learning(), &Interrupt::default()).unwrap().keep();
        let (a, b) = (name.host_namespace("a"), name.host_namespace("b"));
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|it| it as u8).collect();
        assert!(transfer(&a, &b, "10.9.0.2:7000", &bytes) == bytes);
        assert!(transfer(&b, &a, "[2001:db8::1]:7000", &bytes) == bytes);
        let edit = |up| LinkEdit { up: Some(up), ..LinkEdit::default() };
        let ports = || {
            let show =
                || Command::new("ip").args(["-brief", "link", "show", "type", "vxlan"]).output().unwrap();
            let shown = String::from_utf8(in_namespace(&name.fabric_namespace(), show).stdout).unwrap();
            shown.lines().map(|line| line.contains("LOWER_UP")).collect::<Vec<_>>()
        };
        for up in [false, true] {
            assert_eq!(bench.labs.change_link(&name, &which("s", "t"), &edit(up)).unwrap().up, up);
            assert_eq!(ports(), [up; 2]);
        }
        let refused = bench.labs.remove_link(&name, &which("s", "t")).unwrap_err();
        assert_eq!(refused.exit_code(), 2, "{refused}");
        assert_eq!(transfer(&a, &b, "10.9.0.2:7000", b"back again"), b"back again");
        bench.labs.destroy(&name).unwrap();
        assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
    }
}

#[test]
fn a_link_changes_while_the_lab_is_up_and_keeps_what_was_set_before() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    bench.labs.deploy(&far(), &name, &learning(), &Interrupt::default()).unwrap().keep();
    let edit = |there: &str, back: &str| LinkEdit { directions: [change(there), change(back)], up: None };
    bench.labs.change_link(&name, &which("s", "t"), &edit(r#"{"loss":"100%"}"#, "{}")).unwrap();
    // Named from its other end, both directions are reversed.
    let after =
        bench.labs.change_link(&name, &which("t", "s"), &edit(r#"{"rate":"9Mbit"}"#, r#"{"delay":"1ms"}"#));
    let [s, t] = after.unwrap().ends.map(|end| end.parameters);
    assert_eq!(
        (s.delay.to_string(), s.loss.to_string(), s.rate.unwrap().0),
        ("1ms".into(), "100%".into(), 100_000_000)
    );
    assert_eq!(
        (t.delay.to_string(), t.loss.to_string(), t.rate.unwrap().0),
        ("7ms".into(), "0%".into(), 9_000_000)
    );
    let ping = ["-c", "1", "-W", "1", "10.9.0.2"];
    let answered =
        in_namespace(&name.host_namespace("a"), || Command::new("ping").args(ping).output().unwrap());
    assert!(!answered.status.success());
    assert!(link(&bench.labs, &name, "s").ends[0].counters.unwrap().model.lost.frames > 0);
    bench.labs.destroy(&name).unwrap();
}

#[test]
fn a_link_that_only_has_a_rate_changes_that_and_nothing_else() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    bench.labs.deploy(&far(), &name, &learning(), &Interrupt::default()).unwrap().keep();
    let edit = |text: &str| LinkEdit { directions: [change(text), Change::default()], up: None };
    let after = bench.labs.change_link(&name, &which("a", "s"), &edit(r#"{"rate":"20Mbit"}"#)).unwrap();
    assert_eq!(after.backend, LinkBackend::Tbf);
    let show = || Command::new("tc").args(["qdisc", "show", "dev", "eth0"]).output().unwrap();
    let shown = String::from_utf8(in_namespace(&name.host_namespace("a"), show).stdout).unwrap();
    assert!(shown.contains(" rate 20Mbit "), "{shown}");
    assert_eq!(
        link(&bench.labs, &name, "a.eth0").ends.map(|end| end.parameters.rate.unwrap().0),
        [20_000_000, 1_000_000_000]
    );

    let refused =
        |which: WhichLink, text: &str| bench.labs.change_link(&name, &which, &edit(text)).unwrap_err();
    let fixed = refused(which("a", "s"), r#"{"delay":"3ms"}"#);
    assert!(matches!(fixed, LabError::FixedLink { .. }) && fixed.exit_code() == 2, "{fixed}");
    let zero = refused(which("a", "s"), r#"{"rate":"0bit"}"#);
    assert!(matches!(zero, LabError::Parameters(_)) && zero.exit_code() == 2, "{zero}");
    let zero = refused(which("s", "t"), r#"{"rate":"0bit"}"#);
    assert!(matches!(zero, LabError::Refused(_)) && zero.exit_code() == 2, "{zero}");
    let missing = refused(which("a", "t"), "{}");
    assert_eq!(
        missing.to_string(),
        format!("lab {name} has no link a - t; it has a.eth0 - s, b.eth0 - t, s - t")
    );
    assert_eq!(missing.exit_code(), 3);
    bench.labs.destroy(&name).unwrap();
}

#[test]
fn parallel_links_are_told_apart_by_their_number() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    let text = "{scenario: twins, topology: {hosts: [], switches: [s, t], links: [\
        {between: [s, t], rate: 1Mbit}, {between: [t, s], rate: 2Mbit}]}}";
    let scenario = Scenario::parse(text, "twins.yaml").unwrap();
    bench.labs.deploy(&scenario, &name, &learning(), &Interrupt::default()).unwrap().keep();
    let edit = LinkEdit { directions: [change(r#"{"rate":"5Mbit"}"#), Change::default()], up: None };
    let many = bench.labs.change_link(&name, &which("s", "t"), &edit).unwrap_err();
    assert_eq!(many.to_string(), "2 links join s and t: s:1 - t:1, t:2 - s:2; choose one by its ports");
    assert_eq!(many.exit_code(), 2);
    let second = WhichLink { nth: Some(2), ..which("s", "t") };
    let after = bench.labs.change_link(&name, &second, &edit).unwrap();
    assert_eq!(after.ends.map(|end| end.parameters.rate.unwrap().0), [2_000_000, 5_000_000]);
    let by_ports = |from, to| {
        let edit = LinkEdit { directions: [change(r#"{"rate":"7Mbit"}"#), Change::default()], up: None };
        let after = bench.labs.change_link(&name, &which(from, to), &edit);
        after.map(|link| link.ends.map(|end| end.parameters.rate.unwrap().0 / 1_000_000))
    };
    assert_eq!(by_ports("s:1", "t:1").unwrap(), [7, 1]);
    assert_eq!(by_ports("t", "s:2").unwrap(), [7, 5]);
    assert_eq!(by_ports("s:2", "t").unwrap(), [7, 7]);
    for (from, to) in [("s:1", "t:2"), ("s:3", "t"), ("s:", "t"), ("s:01", "t:1"), (":1", "t:1")] {
        assert!(matches!(by_ports(from, to), Err(LabError::NoLink { .. })), "{from} {to}");
    }
    for nth in [0, 3] {
        let error = bench.labs.change_link(&name, &WhichLink { nth: Some(nth), ..which("s", "t") }, &edit);
        assert!(matches!(error, Err(LabError::NoLink { .. })));
    }
    bench.labs.destroy(&name).unwrap();
}

#[test]
fn a_link_that_is_cut_has_no_carrier_at_either_end_until_it_is_restored() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    bench.labs.deploy(&far(), &name, &learning(), &Interrupt::default()).unwrap().keep();
    let (a, b, fabric) = (name.host_namespace("a"), name.host_namespace("b"), name.fabric_namespace());
    let carrier = |namespace: &str, device: &str| {
        let show = || Command::new("ip").args(["-brief", "link", "show", device]).output().unwrap();
        let shown = String::from_utf8(in_namespace(namespace, show).stdout).unwrap();
        shown.contains("LOWER_UP")
    };
    let carriers =
        || [("s-t", &fabric), ("t-s", &fabric), ("eth0", &a)].map(|(device, at)| carrier(at, device));
    for (from, to, cut) in [("s", "t", [false, false, true]), ("a", "s", [true, true, false])] {
        let edit = |up| LinkEdit { up: Some(up), ..LinkEdit::default() };
        assert!(!bench.labs.change_link(&name, &which(from, to), &edit(false)).unwrap().up);
        assert_eq!(carriers(), cut);
        assert!(bench.labs.change_link(&name, &which(from, to), &edit(true)).unwrap().up);
        assert_eq!(carriers(), [true; 3]);
    }
    // The host kept its addresses, and frames pass again.
    assert_eq!(transfer(&a, &b, "10.9.0.2:7000", b"back again"), b"back again");
    assert_eq!(transfer(&b, &a, "[2001:db8::1]:7000", b"back again"), b"back again");
    bench.labs.destroy(&name).unwrap();
}

/// Two switches with a host each and one link, all made by the kernel.
fn near() -> Scenario {
    let text = "{scenario: near, topology: {hosts: [\
        {name: a, interfaces: [{name: eth0, addresses: [10.9.0.1/24]}]}, \
        {name: b, interfaces: [{name: eth0, addresses: [10.9.0.2/24]}]}], switches: [s, t, u], links: [\
        {between: [a.eth0, s], rate: 1Gbit}, {between: [b.eth0, t], rate: 1Gbit}, {between: [s, t], rate: 9Mbit}]}}";
    Scenario::parse(text, "near.yaml").unwrap()
}

fn with_rate(rate: &str) -> Change {
    Change { rate: Some(rate.parse().unwrap()), ..Change::default() }
}

#[test]
fn a_link_that_is_added_carries_traffic_at_its_rate_and_is_removed_again() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    bench.labs.deploy(&near(), &name, &learning_at(&["s", "t", "u"]), &Interrupt::default()).unwrap().keep();
    let before = bench.labs.links(&name).unwrap();
    // By way of `u` only the new links are left, and no loop.
    let cut = LinkEdit { up: Some(false), ..LinkEdit::default() };
    bench.labs.change_link(&name, &which("s", "t"), &cut).unwrap();
    for between in [["s", "u"], ["u", "t"]] {
        let added = bench.labs.add_link(&name, between, &with_rate("50Mbit")).unwrap();
        assert_eq!((added.backend, added.up), (LinkBackend::Tbf, true));
        assert_eq!(added.ends.each_ref().map(|end| end.name.as_str()), between);
    }
    let devices = ["s-u", "u-s", "u-t", "t-u"];
    let shaped = |device: &str| {
        let show = || Command::new("tc").args(["qdisc", "show", "dev", device]).output().unwrap();
        String::from_utf8(in_namespace(&name.fabric_namespace(), show).stdout).unwrap()
    };
    assert!(devices.iter().all(|device| shaped(device).contains(" rate 50Mbit ")), "{}", shaped("s-u"));

    let (a, b) = (name.host_namespace("a"), name.host_namespace("b"));
    assert_eq!(transfer(&a, &b, "10.9.0.2:7000", b"by the new links"), b"by the new links");
    assert_eq!(bench.labs.inspect(&name).unwrap().state, LabState::Up);

    bench.labs.remove_link(&name, &which("t", "u")).unwrap();
    bench.labs.remove_link(&name, &which("s", "u")).unwrap();
    assert!(devices.iter().all(|device| shaped(device).is_empty()));
    let restored = LinkEdit { up: Some(true), ..LinkEdit::default() };
    bench.labs.change_link(&name, &which("s", "t"), &restored).unwrap();
    assert_eq!(bench.labs.links(&name).unwrap(), before);
    assert_eq!(transfer(&a, &b, "10.9.0.2:7000", b"by the old link"), b"by the old link");
    bench.labs.destroy(&name).unwrap();
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

#[test]
fn links_that_cannot_be_added_or_removed_are_refused_and_change_nothing() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    let lab = bench.labs.deploy(&far(), &name, &learning(), &Interrupt::default()).unwrap();
    let add = |between, properties| bench.labs.add_link(&name, between, &properties).unwrap_err();
    let busy = add(["s", "t"], with_rate("1Mbit"));
    assert!(matches!(busy, LabError::Busy(_)), "{busy}");
    lab.keep();
    let before = bench.labs.links(&name).unwrap();

    let host = add(["a", "t"], with_rate("1Mbit"));
    assert!(host.to_string().ends_with(
        "has no switch \"a\" whose links can be added or removed; those of Open vSwitch are s, t"
    ));
    assert_eq!(host.exit_code(), 3);
    let late = Change { delay: Some("2ms".parse().unwrap()), ..with_rate("1Mbit") };
    for properties in [late, Change::default(), with_rate("0bit")] {
        assert_eq!(add(["s", "t"], properties).exit_code(), 2);
    }
    assert_eq!(add(["s", "s"], with_rate("1Mbit")).exit_code(), 2);

    let remove = |from, to| bench.labs.remove_link(&name, &which(from, to)).unwrap_err();
    assert!(matches!(remove("a", "s"), LabError::NoSwitch { .. }));
    assert!(matches!(remove("a", "t"), LabError::NoLink { .. }));
    let emulated = remove("s", "t");
    assert!(matches!(emulated, LabError::Refused(_)) && emulated.exit_code() == 2, "{emulated}");
    let ends = |links: Vec<LinkInspection>| {
        links.into_iter().map(|link| link.ends.map(|end| end.device)).collect::<Vec<_>>()
    };
    assert_eq!(ends(bench.labs.links(&name).unwrap()), ends(before));
    bench.labs.destroy(&name).unwrap();
}

#[test]
fn a_lab_whose_link_process_died_says_so_and_can_be_removed() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    bench.labs.deploy(&far(), &name, &learning(), &Interrupt::default()).unwrap().keep();
    assert_eq!(bench.labs.inspect(&name).unwrap().state, LabState::Up);
    kill(link_process(&name), Signal::SIGKILL).unwrap();
    let ended = || bench.labs.inspect(&name).unwrap().state == LabState::Broken;
    assert!((0..1_000).any(|_| ended() || {
        std::thread::sleep(Duration::from_millis(5));
        false
    }));
    let lab = bench.labs.inspect(&name).unwrap();
    assert!(lab.problems[0].starts_with("the link process has ended"), "{:?}", lab.problems);
    // What it was deployed with is still shown.
    assert_eq!(lab.links[2].ends[1].parameters.delay.to_string(), "7ms");
    assert!(matches!(bench.labs.links(&name), Err(LabError::LinkProcess { .. })));
    let removed = bench.labs.destroy(&name).unwrap();
    assert_eq!((removed.namespaces, removed.processes), (4, 2));
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

/// The one process inside the namespace of the links.
fn link_process(name: &LabName) -> Pid {
    let output = Command::new("ip").args(["netns", "pids", &format!("bl-{name}._links")]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let pids: Vec<_> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 1, "{text}");
    Pid::from_raw(pids[0])
}

#[test]
fn a_link_process_that_ends_at_once_is_quoted_and_the_lab_removed() {
    let Some(bench) = linked() else { return };
    let name = fresh_name();
    let args = ["-c", "echo no links today >&2; exit 3"].map(Into::into).to_vec();
    let labs = bench.labs.clone().with_link_process(LinkProcess { program: "sh".into(), args });
    let error = labs.deploy(&far(), &name, &learning(), &Interrupt::default()).unwrap_err().to_string();
    assert!(error.contains("ended (exit status: 3) and said: no links today"), "{error}");
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

#[test]
fn a_deployment_with_links_in_user_space_that_is_killed_at_any_point_is_removed_by_its_name() {
    let Some(bench) = linked() else { return };
    for delay in [0, 20, 60, 120] {
        let name = fresh_name();
        let mut helper = start_helper("helper_deploys_far", &bench, &name);
        while !bench.folder.path().join(name.as_str()).join("journal").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(delay));
        helper.kill().unwrap();
        helper.wait().unwrap();
        bench.labs.destroy(&name).unwrap_or_else(|error| panic!("after {delay} ms: {error}"));
        assert_eq!(left_of(&name, bench.folder.path()), [""; 0], "after {delay} ms");
    }
}

/// Deploys and stays, when another test starts it.
#[test]
fn helper_deploys_far() {
    let Some((labs, name)) = helper_task() else { return };
    let lab = with_links(labs).deploy(&far(), &name, &learning(), &Interrupt::default());
    std::thread::sleep(Duration::from_secs(60));
    drop(lab);
}
