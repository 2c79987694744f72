//! The East Asia backbone of eight cities. Banfi et al. (2016), figure 2.

use std::collections::BTreeMap;
use std::time::Duration;

use super::mbit;
use crate::blueprint::{Blueprint, BlueprintError, NewSwitch, Position};

/// Name, latitude and longitude of the cities, to a hundredth of a degree.
const CITIES: [(&str, f64, f64); 8] = [
    ("BEJ", 39.90, 116.41),
    ("HAW", 21.31, -157.86),
    ("HKG", 22.32, 114.17),
    ("MAN", 14.60, 120.98),
    ("SHA", 31.23, 121.47),
    ("SIN", 1.35, 103.82),
    ("SYD", -33.87, 151.21),
    ("TOK", 35.68, 139.69),
];

/// Ends, Mbit/s and milliseconds.
const LINKS: [(&str, &str, u64, u64); 13] = [
    ("SYD", "HAW", 30, 75),
    ("MAN", "HAW", 30, 75),
    ("TOK", "HAW", 30, 75),
    ("SYD", "SIN", 30, 50),
    ("SIN", "MAN", 10, 10),
    ("SIN", "TOK", 10, 10),
    ("SIN", "HKG", 10, 10),
    ("MAN", "HKG", 10, 10),
    ("HKG", "SHA", 10, 10),
    ("HKG", "BEJ", 10, 10),
    ("SHA", "BEJ", 10, 10),
    ("SHA", "TOK", 10, 10),
    ("SYD", "TOK", 20, 60),
];

/// The East Asia Internet backbone of Banfi et al. (2016), figure 2, with rates scaled down to what can be emulated.
///
/// Eight cities: Beijing, Honolulu, Hong Kong, Manila, Shanghai, Singapore, Sydney and Tokyo, each with a host such as
/// `bej-host` on a link of 100 Mbit/s and no delay. The paper gives four paths (table II); the links' values are those
/// of the evaluation network that its authors published with their controller (`topologies.py`). Of the delays each
/// is one way: BEJ-SHA-TOK-HAW and BEJ-HKG-MAN-HAW carry 10 Mbit/s in 95 ms, TOK-SIN-SYD 10 and TOK-SYD 20 Mbit/s in
/// 60 ms.
///
/// # Errors
///
/// None: the network fits.
pub fn east_asia() -> Result<Blueprint, BlueprintError> {
    let mut builder = Blueprint::builder("east-asia");
    let mut places = BTreeMap::new();
    for (name, latitude, longitude) in CITIES {
        let position = Position::new(latitude, longitude);
        let switch = builder.switch(NewSwitch { position, ..NewSwitch::named(name) })?;
        places.insert(name, switch);
        builder.host(format!("{}-host", name.to_lowercase()), [switch], mbit(100, Duration::ZERO))?;
    }
    for (a, b, rate, millis) in LINKS {
        builder.link(places[a], places[b], mbit(rate, Duration::from_millis(millis)))?;
    }
    Ok(builder.build())
}
