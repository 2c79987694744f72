//! FatTrees of k-port switches in three levels. Al-Fares et al. (2008).

use super::{GenerateError, Links};
use crate::blueprint::{Blueprint, BlueprintError, Builder, NewSwitch};

/// With more ports a switch, there were more links than a blueprint has.
const MAX_K: usize = 128;

/// Three levels of switches with `k` ports each, which serve k³/4 hosts at full rate. Al-Fares et al. (2008).
///
/// There are (k/2)² switches `core1`, … in the group `core`, and k pods `pod1`, … of k/2 aggregation switches
/// `pod1-agg1`, … and k/2 edge switches `pod1-edge1`, …. In a pod every edge switch is joined with every aggregation
/// switch; the aggregation switch i of each pod with core switches (i - 1)·k/2 + 1 to i·k/2; every edge switch has
/// k/2 hosts. So there are k²/4 shortest paths between hosts of different pods, k/2 of them without a common link.
/// k = 8 has 80 switches, 256 links and 128 hosts.
///
/// # Errors
///
/// [`GenerateError::Size`] unless k is even and from 2 to 128.
pub fn fat_tree(k: usize, links: Links) -> Result<Blueprint, GenerateError> {
    if !(2..=MAX_K).contains(&k) || !k.is_multiple_of(2) {
        let remedy = format!("it takes an even number from 2 to {MAX_K}");
        return Err(GenerateError::size("fattree", "k, the ports of a switch,", k, remedy));
    }
    let half = k / 2;
    let mut builder = Blueprint::builder(format!("fattree:{k}"));
    let cores = add(&mut builder, half * half, "core", |n| format!("core{n}"))?;
    let mut edges = Vec::with_capacity(k * half);
    for pod in 1..=k {
        edges.extend(add_pod(&mut builder, pod, half, &cores, links)?);
    }
    for host in 0..edges.len() * half {
        builder.host(format!("h{}", host + 1), [edges[host / half]], links.state())?;
    }
    Ok(builder.build())
}

/// Adds the switches of a pod and their links up to the core; returns the edge switches.
fn add_pod(
    builder: &mut Builder,
    pod: usize,
    half: usize,
    cores: &[usize],
    links: Links,
) -> Result<Vec<usize>, BlueprintError> {
    let group = format!("pod{pod}");
    let aggregation = add(builder, half, &group, |n| format!("{group}-agg{n}"))?;
    let edges = add(builder, half, &group, |n| format!("{group}-edge{n}"))?;
    for (switch, cores) in aggregation.iter().zip(cores.chunks(half)) {
        edges.iter().try_for_each(|edge| builder.link(*edge, *switch, links.state()))?;
        cores.iter().try_for_each(|core| builder.link(*switch, *core, links.state()))?;
    }
    Ok(edges)
}

fn add(
    builder: &mut Builder,
    count: usize,
    group: &str,
    name: impl Fn(usize) -> String,
) -> Result<Vec<usize>, BlueprintError> {
    let group = Some(group.to_owned());
    let new = |n| NewSwitch { group: group.clone(), ..NewSwitch::named(name(n)) };
    (1..=count).map(|n| builder.switch(new(n))).collect()
}
