//! Generators: sizes, degrees, paths and seeds as the papers have them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use braid_topology::Blueprint;
use braid_topology::generate::{Links, Spec};
use braid_types::BitsPerSec;
use proptest::prelude::*;

fn generate(spec: &str) -> Blueprint {
    try_generate(spec).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

fn try_generate(spec: &str) -> Result<Blueprint, String> {
    let spec: Spec = spec.parse().map_err(|error| format!("{error}"))?;
    spec.generate(Links::default()).map_err(|error| error.to_string())
}

/// The switches next to each, once for each link.
fn neighbours(network: &Blueprint) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); network.switches().len()];
    for link in network.links() {
        let [a, b] = link.ends.map(|end| end.switch);
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    neighbours
}

/// The hops from a switch and in how many shortest ways, where it can be reached.
fn shortest_ways(network: &Blueprint, from: usize) -> BTreeMap<usize, (usize, usize)> {
    let neighbours = neighbours(network);
    let mut ways = BTreeMap::from([(from, (0, 1))]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        let (hops, count) = ways[&at];
        for &next in &neighbours[at] {
            match ways.get_mut(&next) {
                Some((there, more)) if *there == hops + 1 => *more += count,
                Some(_) => {}
                None => {
                    ways.insert(next, (hops + 1, count));
                    queue.push_back(next);
                }
            }
        }
    }
    ways
}

fn is_connected(network: &Blueprint) -> bool {
    shortest_ways(network, 0).len() == network.switches().len()
}

fn place(network: &Blueprint, name: &str) -> usize {
    network.locate(name).unwrap_or_else(|error| panic!("{error}"))[0]
}

/// How many interfaces of hosts each switch has.
fn interfaces(network: &Blueprint) -> Vec<usize> {
    let mut counts = vec![0; network.switches().len()];
    let interfaces = network.hosts().iter().flat_map(|host| &host.interfaces);
    interfaces.for_each(|interface| counts[interface.end.switch] += 1);
    counts
}

#[test]
fn fat_tree_has_the_sizes_and_paths_of_its_paper() {
    for k in [2, 4, 8, 12] {
        let tree = generate(&format!("fattree:{k}"));
        assert_eq!(tree.switches().len(), 5 * k * k / 4);
        assert_eq!(tree.links().len(), k * k * k / 2);
        assert_eq!(tree.hosts().len(), k * k * k / 4);
        let used: Vec<_> = neighbours(&tree).iter().map(Vec::len).zip(interfaces(&tree)).collect();
        assert!(used.iter().all(|(links, hosts)| links + hosts == k), "all {k} ports are used: {used:?}");
        let ways = shortest_ways(&tree, place(&tree, "h1"));
        assert_eq!(ways[&place(&tree, &format!("h{}", k * k * k / 4))], (4, k * k / 4));
    }
}

#[test]
fn fat_tree_pods_are_groups_that_only_the_core_joins() {
    let tree = generate("fattree:4");
    let group = |switch: usize| tree.switches()[switch].group.clone().unwrap();
    let groups: BTreeSet<_> = (0..tree.switches().len()).map(group).collect();
    assert_eq!(groups.len(), 5);
    for link in tree.links() {
        let [a, b] = link.ends.map(|end| group(end.switch));
        assert!(a == b || b == "core", "{a} - {b}");
    }
}

#[test]
fn jellyfish_of_the_paper_uses_all_ports_and_is_connected() {
    for seed in 0..10 {
        let network = generate(&format!("jellyfish:60,10,120,{seed}"));
        assert!(neighbours(&network).iter().all(|all| all.len() == 8));
        assert_eq!(interfaces(&network), vec![2; 60]);
        assert!(is_connected(&network));
    }
}

#[test]
fn second_interfaces_take_ports_from_the_core() {
    let network = generate("dh-jellyfish:60,10,120,3");
    assert!(network.hosts().iter().all(|host| host.interfaces.len() == 2));
    assert_eq!(interfaces(&network), vec![4; 60]);
    assert!(neighbours(&network).iter().all(|all| all.len() == 6));
    assert_eq!(network.locate("h1").unwrap().len(), 2);
}

#[test]
fn the_seed_decides_and_nothing_else() {
    for family in ["jellyfish", "dh-jellyfish"] {
        let with = |seed: &str| generate(&format!("{family}:40,6,80{seed}"));
        assert_eq!(with(",1"), with(",1"));
        assert_ne!(with(",1").links(), with(",2").links());
        assert_eq!(with(""), with(",0"));
    }
}

#[test]
fn chances_are_those_of_every_release() {
    let network = generate("jellyfish:6,4,6,1");
    let links: Vec<_> = network.links().iter().map(|link| link.ends.map(|end| end.switch)).collect();
    let expected = [[2, 0], [3, 1], [1, 4], [5, 4], [3, 0], [0, 1], [2, 5], [5, 3], [4, 2]];
    assert_eq!(links, expected);
}

#[test]
fn regular_networks_have_their_neighbours() {
    let degrees = |spec| neighbours(&generate(spec)).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(degrees("line:1"), [0]);
    assert_eq!(degrees("line:4"), [1, 2, 2, 1]);
    assert_eq!(degrees("ring:5"), [2; 5]);
    assert_eq!(degrees("torus:3,4"), [4; 12]);
    let torus = generate("torus:4,6");
    assert_eq!(shortest_ways(&torus, 0).values().map(|(hops, _)| *hops).max(), Some(5));
    assert_eq!(interfaces(&torus), [1; 24]);
}

#[test]
fn two_paths_have_no_link_in_common() {
    let network = generate("two-path");
    assert_eq!(shortest_ways(&network, place(&network, "left"))[&place(&network, "right")], (2, 2));
}

/// Capacity in Mbit/s and delay of a path that is named by its switches.
fn along(network: &Blueprint, path: &str) -> (u64, Duration) {
    let switches: Vec<_> = path.split('-').map(|name| place(network, name)).collect();
    let state = |hop: &[usize]| {
        let joins = |ends: [usize; 2]| ends == [hop[0], hop[1]] || ends == [hop[1], hop[0]];
        let link = network.links().iter().find(|link| joins(link.ends.map(|end| end.switch)));
        link.unwrap_or_else(|| panic!("{path}")).states[0].unwrap()
    };
    let states: Vec<_> = switches.windows(2).map(state).collect();
    let capacity = states.iter().map(|state| state.capacity.0 / 1_000_000).min().unwrap();
    (capacity, states.iter().map(|state| state.delay.unwrap()).sum())
}

#[test]
fn east_asia_has_the_paths_of_table_ii() {
    let network = generate("east-asia");
    let millis = Duration::from_millis;
    assert_eq!(along(&network, "BEJ-SHA-TOK-HAW"), (10, millis(95)));
    assert_eq!(along(&network, "BEJ-HKG-MAN-HAW"), (10, millis(95)));
    assert_eq!(along(&network, "TOK-SIN-SYD"), (10, millis(60)));
    assert_eq!(along(&network, "TOK-SYD"), (20, millis(60)));
    assert!(network.switches().iter().all(|switch| switch.position.is_some()));
}

#[test]
fn huang_networks_lead_to_the_numbers_of_streams_of_their_paper() {
    let streams = |(rate, one_way): (u64, Duration)| {
        (0.001495 * rate as f64 * 2.0 * one_way.as_secs_f64() * 1e3).max(1.0).round()
    };
    let a = generate("huang-a");
    for path in ["SW1-SW2-SW6", "SW1-SW3-SW6", "SW1-SW4-SW6", "SW1-SW5-SW6"] {
        assert_eq!(along(&a, path), (100, Duration::ZERO));
    }
    let b = generate("huang-b");
    let paths = ["SW1-SW2-SW3-SW6", "SW1-SW2-SW4-SW6", "SW1-SW5-SW6"];
    assert_eq!(paths.map(|path| streams(along(&b, path))), [2.0, 2.0, 18.0]);
    assert_eq!(along(&b, "SW1-SW2").0, along(&b, paths[0]).0 + along(&b, paths[1]).0);
}

#[test]
fn links_are_as_asked_for() {
    let links = Links { capacity: BitsPerSec(10), delay: Some(Duration::from_millis(3)) };
    let network = "ring:3".parse::<Spec>().unwrap().generate(links).unwrap();
    let states = network.directed_links().map(|(_, state)| (state.capacity, state.delay));
    assert_eq!(states.collect::<BTreeSet<_>>(), BTreeSet::from([(links.capacity, links.delay)]));
    assert_eq!(network.hosts()[0].interfaces[0].states[0].delay, links.delay);
}

#[test]
fn what_cannot_be_is_named_with_what_would_do() {
    for (spec, reason) in [
        ("fattree:7", "fattree: k, the ports of a switch, is 7; it takes an even number from 2 to 128"),
        ("fattree:130", "fattree: k, the ports of a switch, is 130; it takes an even number from 2 to 128"),
        ("line:0", "line: the number of switches is 0; it takes 1 or more"),
        ("line:300000", "there are more than 262144 switches, which is the limit"),
        ("ring:2", "ring: the number of switches is 2; it takes 3 or more"),
        ("torus:3,2", "torus: the number of columns is 2; it takes 3 or more"),
        (
            "torus:18446744073709551615,18446744073709551615",
            "there are more than 262144 switches, which is the limit",
        ),
        ("jellyfish:0,4,4", "jellyfish: the number of switches is 0; it takes 1 to 262144 here"),
        ("jellyfish:10,1,20", "jellyfish: the number of ports is 1; it takes 2 to 11 here"),
        ("jellyfish:10,12,20", "jellyfish: the number of ports is 12; it takes 2 to 11 here"),
        (
            "jellyfish:100000,30,0",
            "jellyfish: the number of ports is 30; that makes 1500000 links, and there can be 1048576",
        ),
        ("dh-jellyfish:1,4,2", "dh-jellyfish: the number of switches is 1; it takes 2 to 262144 here"),
        ("ring", "\"ring\" is not of the form ring:N: it has 0 numbers"),
        ("ring:3,4", "\"ring:3,4\" is not of the form ring:N: it has 2 numbers"),
        ("ring:x", "\"ring:x\" is not of the form ring:N: \"x\" is not a whole number"),
        ("two-path:3", "\"two-path:3\" is not of the form two-path: it has 1 numbers"),
    ] {
        assert_eq!(try_generate(spec).err().as_deref(), Some(reason), "{spec}");
    }
    let unknown = try_generate("star:4").unwrap_err();
    assert!(unknown.starts_with("there is no generator \"star\": give one of fattree:K, "));
}

#[test]
fn specs_print_as_they_are_read() {
    let specs =
        ["fattree:8", "jellyfish:60,10,120,7", "dh-jellyfish:6,5,12,0", "line:1", "ring:3", "torus:3,4"];
    for text in specs.into_iter().chain(["two-path", "east-asia", "huang-a", "huang-b"]) {
        assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        assert_eq!(generate(text).name(), text);
    }
}

proptest! {
    #[test]
    fn jellyfish_never_has_parallel_links_and_leaves_at_most_one_port(
        switches in 2..30_usize, ports in 1..12_usize, hosts in 0..60_usize, seed: u64,
    ) {
        let spec = format!("jellyfish:{switches},{ports},{hosts},{seed}");
        let Ok(network) = try_generate(&spec) else { return Ok(()) };
        let neighbours = neighbours(&network);
        prop_assert!(neighbours.iter().all(|all| all.iter().collect::<BTreeSet<_>>().len() == all.len()));
        let used = 2 * network.links().len() + hosts;
        prop_assert!(switches * ports - used <= 1, "{} of {} ports are used", used, switches * ports);
    }
}
