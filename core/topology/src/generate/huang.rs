//! Topologies A and B of Huang et al. (2017), §5.1.

use std::time::Duration;

use super::mbit;
use crate::blueprint::{Blueprint, BlueprintError, Builder, NewSwitch};

/// Topology A of Huang et al. (2017), §5.1: four paths SW1-SWi-SW6 without a common link, 100 Mbit/s and no delay each.
///
/// The hosts `hostA` at SW1 and `hostB` at SW6 have links of 1 Gbit/s, as the machines there.
///
/// # Errors
///
/// None: the network fits.
pub fn huang_a() -> Result<Blueprint, BlueprintError> {
    let (mut builder, [sw1, sw2, sw3, sw4, sw5, sw6]) = six_switches("huang-a")?;
    for middle in [sw2, sw3, sw4, sw5] {
        builder.link(sw1, middle, mbit(100, Duration::ZERO))?;
        builder.link(middle, sw6, mbit(100, Duration::ZERO))?;
    }
    Ok(builder.build())
}

/// Topology B of Huang et al. (2017), §5.1: three paths, of which SW1-SW2-SW3-SW6 and SW1-SW2-SW4-SW6 share SW1-SW2, and
/// SW1-SW5-SW6 is long.
///
/// The text does not give the values of its figure 4, only what they lead to: with a = 0.001495, the numbers of
/// streams n = max(1, a·B·R) are 2, 2 and 18, for B in Mbit/s and the round-trip time R in ms; no link exceeds 100 Mbit/s.
/// Here the long path has the most that is allowed, so R is at least 18/(100·a) = 120.4 ms: 122 ms give n = 18.2. The two
/// short paths fill SW1-SW2 together with 50 Mbit/s each, so R is at least 2/(50·a) = 26.8 ms: 28 ms give n = 2.1. A
/// link's delay is one way, so the links of a path sum up to half its R. Hosts are as in [`huang_a`].
///
/// # Errors
///
/// None: the network fits.
pub fn huang_b() -> Result<Blueprint, BlueprintError> {
    let (mut builder, [sw1, sw2, sw3, sw4, sw5, sw6]) = six_switches("huang-b")?;
    builder.link(sw1, sw2, mbit(100, Duration::from_millis(4)))?;
    for branch in [sw3, sw4] {
        builder.link(sw2, branch, mbit(50, Duration::from_millis(5)))?;
        builder.link(branch, sw6, mbit(50, Duration::from_millis(5)))?;
    }
    builder.link(sw1, sw5, mbit(100, Duration::from_millis(30)))?;
    builder.link(sw5, sw6, mbit(100, Duration::from_millis(31)))?;
    Ok(builder.build())
}

/// The switches SW1 to SW6, host A at the first and host B at the last.
fn six_switches(name: &str) -> Result<(Builder, [usize; 6]), BlueprintError> {
    let mut builder = Blueprint::builder(name);
    let mut switch = |name: &str| builder.switch(NewSwitch::named(name));
    let switches =
        [switch("SW1")?, switch("SW2")?, switch("SW3")?, switch("SW4")?, switch("SW5")?, switch("SW6")?];
    builder.host("hostA", [switches[0]], mbit(1_000, Duration::ZERO))?;
    builder.host("hostB", [switches[5]], mbit(1_000, Duration::ZERO))?;
    Ok((builder, switches))
}
