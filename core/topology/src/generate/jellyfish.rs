//! Random graphs of switches. Singla et al. (2012), "Jellyfish: Networking Data Centers Randomly", §3; with two
//! interfaces a host: Zannettou et al. (2016), §III.A.

mod core;
mod hosts;

use std::fmt;

use super::random::Random;
use super::{GenerateError, Links};
use crate::blueprint::{Blueprint, MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, NewSwitch};

/// The sizes of a Jellyfish and its seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Jellyfish {
    /// The number of switches.
    pub switches: usize,
    /// The number of ports of each, including those of hosts.
    pub ports: usize,
    /// The number of hosts.
    pub hosts: usize,
    /// The seed.
    pub seed: u64,
}

/// Equal switches, joined at random until their ports are used up. Zannettou et al. (2016), §III.A.
///
/// Hosts `h1`, … are assigned to the switches `s1`, … in turn, so that none has more than ⌈hosts/switches⌉; all other
/// ports are the core's. To build it, pairs of switches that have a free port and are not neighbours yet are drawn
/// and joined. When no such pair is left but two ports are, a random link x-y is replaced by u-x and v-y, where u and
/// v have the free ports: Singla et al.'s step. So no two links are parallel, and a port stays free only if the
/// number of ports is odd or, in networks so dense that they are nearly complete, if no such link exists. With 3 or
/// more ports a switch in the core the network is almost surely connected; with fewer, look. The paper has 60
/// switches and 120 hosts.
///
/// # Errors
///
/// [`GenerateError::Size`] if the ports are fewer than a switch's hosts need, more than it has neighbours to join, or if a
/// bound of blueprints is passed.
pub fn jellyfish(sizes: Jellyfish, links: Links) -> Result<Blueprint, GenerateError> {
    let random = Random::new(sizes.seed);
    build("jellyfish", sizes, sizes.first_homes("jellyfish")?, random, links)
}

/// A [`jellyfish()`] whose hosts have a second interface each. Zannettou et al. (2016), §III.A.
///
/// The second interface leads to a switch that is drawn among those to which the host is not attached and that have fewer
/// than ⌈hosts/switches⌉ second interfaces. When that leaves a host nothing, it changes places with one drawn before.
///
/// # Errors
///
/// As [`jellyfish()`], and for a single switch.
pub fn dual_homed_jellyfish(sizes: Jellyfish, links: Links) -> Result<Blueprint, GenerateError> {
    let family = "dh-jellyfish";
    let mut random = Random::new(sizes.seed);
    let mut homes = sizes.first_homes(family)?;
    in_range(family, "the number of switches", sizes.switches, 2, MAX_SWITCHES)?;
    hosts::add_second_homes(&mut homes, sizes.switches, sizes.hosts_per_switch(), &mut random);
    build(family, sizes, homes, random, links)
}

impl Jellyfish {
    const fn hosts_per_switch(self) -> usize {
        self.hosts.div_ceil(self.switches)
    }

    /// The switch of each host's first interface.
    fn first_homes(self, family: &'static str) -> Result<Vec<Vec<usize>>, GenerateError> {
        in_range(family, "the number of switches", self.switches, 1, MAX_SWITCHES)?;
        in_range(family, "the number of hosts", self.hosts, 0, MAX_HOSTS)?;
        Ok((0..self.hosts).map(|host| vec![host % self.switches]).collect())
    }

    /// The number of ports of each switch that hosts leave to the core.
    fn core_ports(self, family: &'static str, homes: &[Vec<usize>]) -> Result<Vec<usize>, GenerateError> {
        let mut used = vec![0_usize; self.switches];
        homes.iter().flatten().for_each(|home| used[*home] += 1);
        let [least, most] = [used.iter().min(), used.iter().max()].map(|used| used.copied().unwrap_or(0));
        in_range(family, "the number of ports", self.ports, most, least.saturating_add(self.switches - 1))?;
        let free: Vec<_> = used.into_iter().map(|used| self.ports - used).collect();
        let links = free.iter().sum::<usize>() / 2;
        let remedy = format!("that makes {links} links, and there can be {MAX_LINKS}");
        let too_many = GenerateError::size(family, "the number of ports", self.ports, remedy);
        if links <= MAX_LINKS { Ok(free) } else { Err(too_many) }
    }
}

impl fmt::Display for Jellyfish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.switches, self.ports, self.hosts, self.seed)
    }
}

fn build(
    family: &'static str,
    sizes: Jellyfish,
    homes: Vec<Vec<usize>>,
    mut random: Random,
    links: Links,
) -> Result<Blueprint, GenerateError> {
    let pairs = core::join(sizes.core_ports(family, &homes)?, &mut random);
    let mut builder = Blueprint::builder(format!("{family}:{sizes}"));
    for number in 1..=sizes.switches {
        builder.switch(NewSwitch::named(format!("s{number}")))?;
    }
    for (a, b) in pairs {
        builder.link(a, b, links.state())?;
    }
    for (number, homes) in (1..).zip(homes) {
        builder.host(format!("h{number}"), homes, links.state())?;
    }
    Ok(builder.build())
}

fn in_range(
    family: &'static str,
    parameter: &'static str,
    value: usize,
    least: usize,
    most: usize,
) -> Result<(), GenerateError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(GenerateError::size(family, parameter, value, format!("it takes {least} to {most} here")))
}
