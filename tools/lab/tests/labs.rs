//! Labs on a real kernel with Open vSwitch.

mod support;

use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::thread;
use std::time::Duration;

use braid_lab::{Control, Interrupt, LabError, LabState, Place};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::{
    bench, chain, fresh_name, helper_task, in_namespace, learning, left_of, start_helper, transfer,
};

#[test]
fn a_lab_carries_tcp_over_both_families_and_leaves_nothing() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let lab = bench.labs.deploy(&chain(), &name, &learning(), &Interrupt::default()).unwrap();
    let (a, b) = (name.host_namespace("a"), name.host_namespace("b"));
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|it| it as u8).collect();
    assert!(transfer(&a, &b, "10.9.0.2:7000", &bytes) == bytes);
    assert!(transfer(&b, &a, "[2001:db8::1]:7000", &bytes) == bytes);
    lab.destroy().unwrap();
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

#[test]
fn a_kept_lab_is_listed_inspected_and_removed_by_its_name() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    bench.labs.deploy(&chain(), &name, &learning(), &Interrupt::default()).unwrap().keep();
    assert_eq!(bench.labs.names().unwrap(), std::slice::from_ref(&name));
    let lab = bench.labs.inspect(&name).unwrap();
    assert_eq!((lab.state, lab.scenario.as_str()), (LabState::Up, "chain"));
    assert_eq!((lab.hosts.len(), lab.switches.len(), lab.links.len()), (2, 2, 3));
    assert_eq!(lab.switches[0].ports[1].peer, "t");
    assert!(lab.switches.iter().all(|switch| switch.management_socket.exists()));
    let removed = bench.labs.destroy(&name).unwrap();
    assert_eq!((removed.namespaces, removed.processes), (3, 2));
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

#[test]
fn every_end_of_every_link_is_shaped_to_its_rate() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let lab = bench.labs.deploy(&chain(), &name, &learning(), &Interrupt::default()).unwrap();
    for end in bench.labs.inspect(&name).unwrap().links.into_iter().flat_map(|link| link.ends) {
        let show = ["qdisc", "show", "dev", &end.device];
        let output = in_namespace(&end.namespace, || Command::new("tc").args(show).output().unwrap());
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let shaped = shown.starts_with("qdisc tbf")
            && shown.contains(&format!(" rate {} ", end.parameters.rate.unwrap()));
        assert!(shaped, "{}: {shown}", end.device);
    }
    drop(lab);
}

#[test]
fn the_switches_receive_and_send_through_deep_buffers() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let lab = bench.labs.deploy(&chain(), &name, &learning(), &Interrupt::default()).unwrap();
    let list = || Command::new("ss").args(["-0", "-m", "-H"]).output().unwrap();
    let output = in_namespace(&name.fabric_namespace(), list);
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let ports: Vec<_> = listing.lines().filter(|line| line.contains("s-") || line.contains("t-")).collect();
    assert!(ports.len() == 4 && ports.iter().all(|line| line.contains(",rb8388608,")), "{listing}");
    let sender: Vec<_> = listing.lines().filter(|line| line.contains("[0]:*")).collect();
    assert!(sender.len() == 1 && sender[0].contains(",tb1073741824,"), "{listing}");
    drop(lab);
}

#[test]
fn a_lab_that_is_not_there_is_not_found() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    bench.labs.deploy(&chain(), &name, &Control::None, &Interrupt::default()).unwrap().keep();
    bench.labs.destroy(&name).unwrap();
    let again = bench.labs.destroy(&name).unwrap_err();
    assert!(matches!(again, LabError::NoLab(_)) && again.exit_code() == 3, "{again}");
    assert_eq!(bench.labs.inspect(&name).unwrap_err().exit_code(), 3);
}

#[test]
fn a_command_runs_on_its_host_and_unknown_hosts_are_named() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let lab = bench.labs.deploy(&chain(), &name, &Control::None, &Interrupt::default()).unwrap();
    let output = start_helper("helper_lists_addresses_of_b", &bench, &name).wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("10.9.0.2/24") && !text.contains("10.9.0.1"), "{text}");
    let error = bench.labs.exec(&name, Place::Host("c"), &"true".into(), &[]).unwrap_err();
    assert_eq!(error.to_string(), format!("lab {name} has no host \"c\"; it has a, b"));
    drop(lab);
}

/// Does something only when another test starts it.
#[test]
fn helper_lists_addresses_of_b() {
    let Some((labs, name)) = helper_task() else { return };
    let args = ["-brief", "address"].map(Into::into);
    let error = labs.exec(&name, Place::Host("b"), &"ip".into(), &args).unwrap_err();
    panic!("{error}");
}

#[test]
fn two_labs_of_one_scenario_live_side_by_side() {
    let Some(bench) = bench() else { return };
    let (first, second) = (fresh_name(), fresh_name());
    let one = bench.labs.deploy(&chain(), &first, &learning(), &Interrupt::default()).unwrap();
    let two = bench.labs.deploy(&chain(), &second, &learning(), &Interrupt::default()).unwrap();
    one.destroy().unwrap();
    let (a, b) = (second.host_namespace("a"), second.host_namespace("b"));
    assert_eq!(transfer(&a, &b, "10.9.0.2:7000", b"still here"), b"still here");
    drop(two);
    assert_eq!(left_of(&second, bench.folder.path()), [""; 0]);
}

#[test]
fn a_name_in_use_is_refused_and_its_lab_stays() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let lab = bench.labs.deploy(&chain(), &name, &Control::None, &Interrupt::default()).unwrap();
    let again = bench.labs.deploy(&chain(), &name, &Control::None, &Interrupt::default());
    assert!(matches!(again, Err(LabError::Exists(_))));
    assert!(matches!(bench.labs.destroy(&name), Err(LabError::Busy(_))));
    assert_eq!(bench.labs.inspect(&name).unwrap().state, LabState::Busy);
    drop(lab);
}

#[test]
fn what_others_made_stays() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let (foreign, neighbour) = (name.host_namespace("b"), name.host_namespace("else"));
    for namespace in [&foreign, &neighbour] {
        assert!(Command::new("ip").args(["netns", "add", namespace]).status().unwrap().success());
    }
    let error = bench.labs.deploy(&chain(), &name, &Control::None, &Interrupt::default()).unwrap_err();
    assert!(matches!(error, LabError::Foreign(ref taken) if *taken == foreign), "{error}");
    assert_eq!(sorted(left_of(&name, bench.folder.path())), sorted(vec![foreign.clone(), neighbour.clone()]));
    assert!(Command::new("ip").args(["netns", "del", &foreign]).status().unwrap().success());

    bench.labs.deploy(&chain(), &name, &Control::None, &Interrupt::default()).unwrap().destroy().unwrap();
    assert_eq!(left_of(&name, bench.folder.path()), std::slice::from_ref(&neighbour));
    in_namespace(&neighbour, || ());
    assert!(Command::new("ip").args(["netns", "del", &neighbour]).status().unwrap().success());
}

#[test]
fn a_deployment_that_fails_or_panics_is_rolled_back() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let wrong = Control::Rules([("s".to_owned(), vec!["no such rule".to_owned()])].into());
    let error = bench.labs.deploy(&chain(), &name, &wrong, &Interrupt::default()).unwrap_err();
    assert!(
        matches!(error, LabError::Tool { ref command, .. } if command.starts_with("ovs-ofctl")),
        "{error}"
    );
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);

    let panicking = AssertUnwindSafe(|| {
        let _lab = bench.labs.deploy(&chain(), &name, &Control::None, &Interrupt::default()).unwrap();
        resume_unwind(Box::new("on purpose, without a message in the log"));
    });
    assert!(catch_unwind(panicking).is_err());
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
    assert!(bench.labs.names().unwrap().is_empty());
}

#[test]
fn a_deployment_killed_at_any_point_is_removed_by_its_name() {
    let Some(bench) = bench() else { return };
    for delay in [0, 10, 25, 50, 100, 200] {
        let name = fresh_name();
        let mut helper = start_helper("helper_deploys", &bench, &name);
        while !bench.folder.path().join(name.as_str()).join("journal").exists() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(delay));
        helper.kill().unwrap();
        helper.wait().unwrap();
        bench.labs.destroy(&name).unwrap_or_else(|error| panic!("after {delay} ms: {error}"));
        assert_eq!(left_of(&name, bench.folder.path()), [""; 0], "after {delay} ms");
    }
}

#[test]
fn a_signal_at_any_point_leaves_nothing() {
    let Some(bench) = bench() else { return };
    for (delay, signal) in
        [(0, Signal::SIGINT), (40, Signal::SIGTERM), (120, Signal::SIGINT), (400, Signal::SIGHUP)]
    {
        let name = fresh_name();
        let mut helper = start_helper("helper_deploys", &bench, &name);
        let mut output = BufReader::new(helper.stdout.take().unwrap()).lines();
        assert!(output.any(|line| line.unwrap().contains("handlers are set")));
        thread::sleep(Duration::from_millis(delay));
        kill(Pid::from_raw(helper.id().try_into().unwrap()), signal).unwrap();
        assert!(helper.wait().unwrap().success(), "{signal} after {delay} ms");
        assert_eq!(left_of(&name, bench.folder.path()), [""; 0], "{signal} after {delay} ms");
        assert!(bench.labs.names().unwrap().is_empty());
    }
}

/// Deploys, and waits for a signal with the lab up, when another test starts it.
#[test]
fn helper_deploys() {
    let Some((labs, name)) = helper_task() else { return };
    let interrupt = Interrupt::on_signals().unwrap();
    println!("handlers are set");
    let lab = labs.deploy(&chain(), &name, &learning(), &interrupt);
    while interrupt.check().is_ok() {
        thread::sleep(Duration::from_millis(5));
    }
    drop(lab);
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}
