//! Values as people read them in tables.

use std::fmt::Display;
use std::time::Duration;

use braid_types::{DatapathId, SwitchPort};

const UNITS: [(&str, u64); 4] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];

const RATES: [(&str, u64); 3] = [("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000)];

/// A datapath id without leading zeros, which is read everywhere as well.
pub(crate) fn switch(dpid: DatapathId) -> String {
    format!("{:x}", dpid.0)
}

/// A port of a switch.
pub(crate) fn port(at: SwitchPort) -> String {
    format!("{}:{}", switch(at.dpid), at.port)
}

/// A name, or the port where a controller gives none.
pub(crate) fn named_port(name: &str, at: SwitchPort) -> String {
    if name.is_empty() { port(at) } else { name.to_owned() }
}

/// A name, or the switch where a controller gives none.
pub(crate) fn named_switch(name: Option<&str>, dpid: DatapathId) -> String {
    name.filter(|name| !name.is_empty()).map_or_else(|| switch(dpid), str::to_owned)
}

/// The switches of a path, by names where some have one.
pub(crate) fn path(names: &[String], path: &[DatapathId]) -> Vec<String> {
    let names = names.iter().map(Some).chain(std::iter::repeat(None));
    path.iter().zip(names).map(|(dpid, name)| named_switch(name.map(String::as_str), *dpid)).collect()
}

/// What there is several of; a dash for none.
pub(crate) fn list<T: Display>(items: impl IntoIterator<Item = T>, separator: &str) -> String {
    let items: Vec<_> = items.into_iter().map(|item| item.to_string()).collect();
    if items.is_empty() { "-".to_owned() } else { items.join(separator) }
}

/// A number of bytes, in powers of ten.
pub(crate) fn bytes(count: u64) -> String {
    match UNITS.iter().find(|(_, scale)| count >= *scale) {
        Some((unit, scale)) => format!("{:.1} {unit}", count as f64 / *scale as f64),
        None => format!("{count} B"),
    }
}

/// A rate that was measured, in bits a second: three digits are true.
pub(crate) fn rate(bits: u64) -> String {
    match RATES.iter().find(|(_, scale)| bits >= *scale) {
        Some((unit, scale)) => format!("{:.1}{unit}", bits as f64 / *scale as f64),
        None => format!("{bits}bit"),
    }
}

/// A delay that was measured, in microseconds.
pub(crate) fn micros(micros: f64) -> String {
    if micros < 1_000.0 { format!("{micros:.0} us") } else { format!("{:.2} ms", micros / 1_000.0) }
}

/// A share of something.
pub(crate) fn percent(ratio: f64) -> String {
    format!("{:.2} %", ratio * 100.0)
}

/// How long something took or is ago.
pub(crate) fn duration(duration: Duration) -> String {
    match duration.as_secs() {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        seconds @ 60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_unit_that_fits() {
        assert_eq!([0, 999, 1_000, 2_549_000_000].map(bytes), ["0 B", "999 B", "1.0 kB", "2.5 GB"]);
        let times = [0, 1_234, 61_000, 7_320_000].map(|millis| duration(Duration::from_millis(millis)));
        assert_eq!(times, ["0.0 s", "1.2 s", "1 min 1 s", "2 h 2 min"]);
        assert_eq!(
            [0, 1_500, 94_930_000, 2_500_000_000].map(rate),
            ["0bit", "1.5kbit", "94.9Mbit", "2.5Gbit"]
        );
        assert_eq!([3.2, 10_004.0].map(micros), ["3 us", "10.00 ms"]);
        assert_eq!([0.0, 0.0125].map(percent), ["0.00 %", "1.25 %"]);
    }

    #[test]
    fn what_has_no_name_is_shown_by_its_id() {
        let [one, two] = [DatapathId(1), DatapathId(0xb2)];
        assert_eq!(path(&[], &[one, two]), ["1", "b2"]);
        assert_eq!(path(&["ams1".to_owned()], &[one, two]), ["ams1", "b2"]);
        let at = SwitchPort::new(two, braid_types::PortNo(3));
        assert_eq!([named_port("", at), named_port("gva1:eth3", at)], ["b2:3", "gva1:eth3"]);
        assert_eq!([named_switch(None, one), named_switch(Some("ams1"), one)], ["1", "ams1"]);
    }

    #[test]
    fn absence_is_a_dash() {
        assert_eq!(list(["a", "b"], " > "), "a > b");
        assert_eq!(list([""; 0], ", "), "-");
    }
}
