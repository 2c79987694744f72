//! `braid edge group show` of an edge without interfaces.

mod support;

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::spawn;

use braid_edge::{Edge, Options};
use braid_types::DatapathId;
use support::{run, text};

/// Where an edge listens until the flag is set.
fn edge(stop: &Arc<AtomicBool>) -> SocketAddr {
    let (flag, (ready, address)) = (Arc::clone(stop), channel());
    spawn(move || {
        let options = Options {
            dpid: DatapathId(1),
            ports: Vec::new(),
            uplinks: Vec::new(),
            tunnels: Vec::new(),
            rewrite: false,
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            controllers: Vec::new(),
            credentials: None,
        };
        let mut edge = Edge::new(&options).expect("an edge");
        ready.send(edge.addresses()[0]).expect("somebody waits");
        edge.run_while(|| !flag.load(Ordering::Relaxed)).expect("an edge that runs");
    });
    address.recv().expect("an address")
}

#[test]
fn a_group_that_neither_sprays_nor_resequences_is_not_said_to_be_missing() {
    let stop = Arc::new(AtomicBool::new(false));
    let at = edge(&stop).to_string();
    let target = format!("tcp:{at}");
    let add =
        ["-O", "OpenFlow13", "add-group", &target, "group_id=7,type=select,bucket=output:1,bucket=output:2"];
    let Ok(added) = Command::new("ovs-ofctl").args(add).status() else {
        return println!("skipped: ovs-ofctl is not installed");
    };
    assert!(added.success());
    let group = |words: &[&str]| run(&[&["edge", "group"], words, &["7", "--edge", &at]].concat());
    let plain = group(&["show"]);
    let said = text(&plain.stderr);
    assert_eq!(plain.status.code(), Some(3), "{plain:?}");
    assert!(
        said.contains("no group 7 of the edge sprays or resequences")
            && said.contains(&format!("dump-groups {target}")),
        "{said}"
    );
    assert!(group(&["spray"]).status.success());
    let sprays = group(&["show"]);
    assert!(sprays.status.success() && text(&sprays.stdout).starts_with("BUCKET"), "{sprays:?}");
    stop.store(true, Ordering::Relaxed);
}
