//! Load benchmark: new flows per second of a controller on one core, and their latency, over loopback.
//!
//! The controller is a process on one core; switches and hosts are emulated on the other. It is set up as an
//! administrator would who has thousands of hosts behind each port: without limits of what a port may ask.
//!
//! `cargo bench -p braid-controller --bench load -- fat-tree` measures one part alone; others are `watched`, `readers`, `replication`,
//! `rules`, `scale`, `tls`, `16` and `64`; `memory` is a minute of it.

mod audience;
mod fat_tree;
mod process;
mod readers;
mod replication;
mod report;
mod responder;
mod rules;
mod scale;
mod single;
mod tls;
mod watched;

use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use braid_controller::{Access, Agents, Config, Controller, Listen, Settings};
use tokio::sync::oneshot;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // `cargo test` runs benchmarks too, without this flag: there is nothing to measure then.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let role = arguments.iter().skip_while(|argument| *argument != process::ROLE).nth(1);
    match role.map(String::as_str) {
        Some("controller") => {
            process::pin(0);
            control(&arguments);
        }
        Some("standby") => {
            process::yield_to_others();
            control(&arguments);
        }
        Some("responder") => respond(),
        Some(role) => panic!("there is no {role}"),
        None => measure(&arguments),
    }
}

fn measure(arguments: &[String]) {
    process::pin(1);
    let parts: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|wanted| *wanted == part);
    if wants("fat-tree") {
        fat_tree::run(&process::Process::start("controller"), Duration::from_secs(10));
    }
    // A minute for its own sake.
    if parts.iter().any(|part| *part == "memory") {
        fat_tree::memory(6, Duration::from_secs(10));
    }
    if wants("watched") {
        watched::run(Duration::from_secs(10));
    }
    if wants("readers") {
        readers::run();
    }
    if wants("tls") {
        tls::run();
    }
    if wants("replication") {
        replication::run();
    }
    if wants("rules") {
        rules::run();
    }
    if wants("scale") {
        scale::run();
    }
    for switches in [16, 64] {
        if wants(&switches.to_string()) {
            single::run(switches, 20);
        }
    }
}

fn control(arguments: &[String]) {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let settings = Settings { punt_rate: 0, new_streams: 0, new_addresses: 0, ..Settings::default() };
    let hosts = braid_topology::HostLimits { addresses_per_host: single::ADDRESSES, ..settings.hosts };
    let streams = braid_steering::Limits { streams: 2 * readers::TRANSFERS, ..settings.streams };
    let settings = Settings { hosts, streams, ..settings };
    let (openflow, agents) = (Listen::Address(any), Agents::default());
    let config = Config {
        openflow,
        openflow_tls: tls::folder(arguments).map(|folder| tls::server(&folder)),
        http: any,
        http_inherited: Vec::new(),
        record: None,
        settings,
        agents,
        access: Access::default(),
        testbed: None,
        policy: None,
        reload: None,
        cluster: replication::member(arguments),
        switch_access: Default::default(),
        switch_metadata: Default::default(),
        host_metadata: Default::default(),
        ovsdb: Default::default(),
    };
    let controller = Controller::bind(config).expect("free ports");
    process::announce(controller.openflow(), controller.http());
    let (stop, stopped) = oneshot::channel::<()>();
    thread::spawn(move || {
        process::wait_until_dropped();
        drop(stop);
    });
    controller.serve(async { drop(stopped.await) }).expect("a clean end");
}

fn respond() {
    process::pin(0);
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("its address");
    process::announce(address, address);
    thread::spawn(move || responder::serve(&listener));
    process::wait_until_dropped();
}
