//! Lists read by many API clients while the network is busy.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use braid_controller::Settings;
use braid_packet::TcpFlags;
use serde_json::{Value, json};

use crate::network::{ADMIT, CAPABLE, HOSTS, Network, segment};
use crate::support::wait_for;
use crate::waits::Waits;

const TRANSFERS: u16 = 3_000;
const READERS: usize = 64;
/// Connections that open before there are readers.
const QUIET: u16 = 50;

/// Without limits of what a port may ask.
fn network() -> Network {
    Network::start_with(Settings { new_streams: 0, punt_rate: 0, ..Settings::default() })
}

/// The first packet of a connection from host 1 to host 2.
fn opening(port: u16) -> Vec<u8> {
    segment(1, 2, (port, 5_201)).flags(TcpFlags::SYN).options(&CAPABLE).frame()
}

/// What host 2 answers, by which the connection becomes a transfer.
fn answer(port: u16) -> Vec<u8> {
    let key = [&[30, 12, 0x01, 0x01][..], &u64::from(port).to_be_bytes()].concat();
    let both = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);
    segment(2, 1, (5_201, port)).flags(both).options(&key).frame()
}

/// Opens a connection; how long its first packet was held.
fn connect(network: &Network, port: u16) -> Duration {
    let start = Instant::now();
    network.assert_goes_on(1, &opening(port), "of a new connection");
    let held = start.elapsed();
    network.channel_of(2).send_up(HOSTS, ADMIT, &answer(port));
    held
}

fn listed(network: &Network) -> usize {
    network.controller.list("transfers").len()
}

fn ids(page: &[Value]) -> Vec<u64> {
    page.iter().filter_map(|transfer| transfer["id"].as_u64()).collect()
}

#[test]
fn many_readers_get_every_transfer_while_connections_open() {
    let network = network();
    for port in 1..=TRANSFERS {
        network.channel_of(1).send_up(HOSTS, ADMIT, &opening(port));
    }
    let seen = || network.transfers();
    wait_for(|| seen() == usize::from(TRANSFERS), || format!("{} transfers", seen()));
    (1..=TRANSFERS).for_each(|port| network.channel_of(2).send_up(HOSTS, ADMIT, &answer(port)));
    let open = || ids(&network.controller.list("transfers"));
    wait_for(|| open().len() == usize::from(TRANSFERS), || format!("{} transfers", open().len()));
    let known: BTreeSet<_> = open().into_iter().collect();
    let alone: Waits = (1..=QUIET).map(|port| connect(&network, TRANSFERS + port)).collect();
    let over = AtomicBool::new(false);
    let read = |limit| {
        let pages = network.controller.pages("transfers", limit);
        assert!(pages.iter().all(|page| page.len() <= limit), "pages are as long as asked for");
        let ids = ids(&pages.concat());
        assert!(ids.is_sorted_by(|one, next| one < next), "each once, in their order");
        assert!(known.is_subset(&ids.into_iter().collect()), "and every one");
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|number| scope.spawn(move || read(300 + number))).collect();
        let opening = scope.spawn(|| {
            let (mut port, mut waits) = (TRANSFERS + QUIET, Waits::default());
            while !over.load(Ordering::Relaxed) {
                port += 1;
                waits.push(connect(&network, port));
            }
            waits
        });
        readers.into_iter().for_each(|reader| reader.join().expect("a reader"));
        over.store(true, Ordering::Relaxed);
        let waits = opening.join().expect("connections that open");
        println!("{} connections open meanwhile, p99 {:?}", waits.len(), waits.percentile(99));
        waits.assert_undisturbed(&alone, "connections beside readers");
    });
    assert_eq!(network.controller.list("links").len(), 2, "no link was given up");
}

#[test]
fn a_list_has_what_was_done_before_it_was_asked_for() {
    let network = network();
    let controller = &network.controller;
    for port in 1..20 {
        network.assert_goes_on(1, &opening(port), "of a new connection");
        assert_eq!(network.transfers(), usize::from(port));
    }
    (1..20).for_each(|port| network.channel_of(2).send_up(HOSTS, ADMIT, &answer(port)));
    wait_for(|| listed(&network) == 19, || format!("{} transfers", listed(&network)));
    let wanted = json!({ "src": "fd00::1", "dst": "fd00::2", "paths": 1 }).to_string();
    for _ in 0..10 {
        let (status, body) = controller.send("POST", "/api/v1/assignments", wanted.as_bytes());
        assert_eq!(status, 201, "{body}");
        let made: Value = serde_json::from_str(&body).expect("JSON");
        let id = made["assignment"]["id"].as_str().expect("a name");
        assert_eq!(controller.list("assignments")[0]["id"], id);
        assert_eq!(controller.request("DELETE", &format!("/api/v1/assignments/{id}")).0, 200);
        assert!(controller.list("assignments").is_empty());
    }
    for name in ["one", "other"] {
        let policy = format!("[[rule]]\nname = \"{name}\"\n");
        assert_eq!(controller.send("PUT", "/api/v1/policy", policy.as_bytes()).0, 200);
        assert!(controller.get("/api/v1/policy").1.contains(name));
    }
}

#[test]
fn every_list_is_read_page_by_page() {
    let network = network();
    let controller = &network.controller;
    (1..=3).for_each(|port| _ = connect(&network, port));
    wait_for(|| listed(&network) == 3, || format!("{} transfers", listed(&network)));
    for (name, count) in [("switches", 2), ("links", 2), ("hosts", 3), ("transfers", 3), ("edges", 0)] {
        let pages = controller.pages(name, 1);
        assert_eq!(pages.len(), count.max(1), "{name}");
        assert_eq!(identities(&pages.concat()), identities(&controller.list(name)), "{name}");
    }
}

#[test]
fn filters_choose_items_of_every_page() {
    let network = network();
    let controller = &network.controller;
    (1..=9).for_each(|port| _ = connect(&network, port));
    wait_for(|| listed(&network) == 9, || format!("{} transfers", listed(&network)));
    let found = |question: &str, limit| controller.pages(&format!("transfers?{question}"), limit);
    let all = controller.list("transfers");
    let wanted = all[6]["id"].as_u64().expect("a number");
    assert_eq!(ids(&found(&format!("filter=id%3D{wanted}"), 9).concat()), [wanted]);
    let later = found(&format!("filter=-id%3C{wanted}%20kind=mptcp"), 1);
    assert_eq!((ids(&later.concat()), later.len()), (ids(&all[6..]), 3));
    assert_eq!(found("filter=nothing", 9), [Vec::<Value>::new()]);
    let long = format!("/api/v1/transfers?filter={}", "x".repeat(1_025));
    assert_eq!(controller.get(&long).0, 400);
}

/// What tells items of a list apart: the rest is measured and may change between two reads.
fn identities(items: &[Value]) -> Vec<[Value; 5]> {
    let identity = |item: &Value| ["dpid", "src", "dst", "mac", "id"].map(|field| item[field].clone());
    items.iter().map(identity).collect()
}

#[test]
fn a_page_that_there_is_none_of_is_refused() {
    let network = network();
    let cases = [
        ("transfers?limit=0", "limit"),
        ("transfers?limit=10001", "limit"),
        ("transfers?limit=x", "limit"),
        ("transfers?cursor=x", "cursor"),
        ("links?cursor=1", "cursor"),
        ("hosts?cursor=", "cursor"),
        ("alarms?cursor=1:1", "cursor"),
        ("hosts?filter=last_seen%3Ex", "filter"),
        ("hosts?filter=%22open", "filter"),
    ];
    for (question, parameter) in cases {
        let (status, body) = network.controller.get(&format!("/api/v1/{question}"));
        let problem: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!((status, problem["parameter"].as_str()), (400, Some(parameter)), "{question}: {body}");
    }
}
