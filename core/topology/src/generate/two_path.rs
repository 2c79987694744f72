//! The smallest multipath network: two hosts and two equal disjoint paths.

use super::Links;
use crate::blueprint::{Blueprint, BlueprintError, NewSwitch};

/// Hosts `left` and `right` and two equal paths without a common link between their switches.
///
/// ```text
///              +-- north --+
/// left -- west              east -- right
///              +-- south --+
/// ```
///
/// # Errors
///
/// None: the network fits.
pub fn two_path(links: Links) -> Result<Blueprint, BlueprintError> {
    let mut builder = Blueprint::builder("two-path");
    let mut switch = |name: &str| builder.switch(NewSwitch::named(name));
    let [west, north, south, east] = [switch("west")?, switch("north")?, switch("south")?, switch("east")?];
    for (a, b) in [(west, north), (north, east), (west, south), (south, east)] {
        builder.link(a, b, links.state())?;
    }
    builder.host("left", [west], links.state())?;
    builder.host("right", [east], links.state())?;
    Ok(builder.build())
}
