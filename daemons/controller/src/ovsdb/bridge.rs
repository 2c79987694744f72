//! Bridges as their database sets them up, and what of it does not work.

use std::fmt::Write as _;

/// The protocol that Braid speaks, as Open vSwitch calls it.
const PROTOCOL: &str = "OpenFlow13";
/// The port of a controller whose target names none.
const DEFAULT_PORT: u16 = 6653;

/// What a database says of a bridge that matters to its controller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct BridgeSettings {
    pub(super) name: String,
    /// Without a controller the switch does nothing of its own.
    pub(super) is_secure: bool,
    /// The protocols of controllers; empty: all.
    pub(super) protocols: Vec<String>,
    pub(super) has_spanning_tree: bool,
    pub(super) has_rapid_spanning_tree: bool,
}

/// A setting that does not work.
struct Problem {
    what: &'static str,
    remedy: &'static str,
}

impl BridgeSettings {
    /// What does not work and what to do about it, in one line; `None` if everything does.
    pub(super) fn problem(&self) -> Option<String> {
        let bridge = self.name.escape_debug().to_string();
        let mut text = String::new();
        for Problem { what, remedy } in self.problems() {
            let start = if text.is_empty() { "bridge " } else { "; bridge " };
            // Writing to a text does not fail.
            let _ = write!(text, "{start}{bridge} {what}: ovs-vsctl set bridge {bridge} {remedy}");
        }
        (!text.is_empty()).then_some(text)
    }

    fn problems(&self) -> impl Iterator<Item = Problem> {
        let speaks = self.protocols.is_empty() || self.protocols.iter().any(|name| name == PROTOCOL);
        [
            (!speaks, "does not speak OpenFlow 1.3", "protocols=OpenFlow13"),
            (
                !self.is_secure,
                "forwards by itself, also in circles, while no controller is connected",
                "fail_mode=secure",
            ),
            (self.has_spanning_tree, "blocks ports by STP", "stp_enable=false"),
            (self.has_rapid_spanning_tree, "blocks ports by RSTP", "rstp_enable=false"),
        ]
        .into_iter()
        .filter_map(|(is_problem, what, remedy)| is_problem.then_some(Problem { what, remedy }))
    }
}

/// A controller of a bridge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ControllerRow {
    /// The port that the switch connects to; `None` if it listens itself.
    pub(super) port: Option<u16>,
    /// The longest pause between attempts to connect, in milliseconds; `None`: Open vSwitch's own.
    pub(super) max_backoff: Option<u64>,
    /// Whether Braid has set that.
    pub(super) is_ours: bool,
}

/// What the longest pause between attempts to connect is to become, in milliseconds; `None`: Open vSwitch's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MaxBackoff(pub(super) Option<u64>);

impl ControllerRow {
    /// What to set where `wanted` is. What others have set stays.
    pub(super) fn change(&self, wanted: MaxBackoff) -> Option<MaxBackoff> {
        let may_change = self.is_ours || self.max_backoff.is_none();
        (may_change && self.max_backoff != wanted.0).then_some(wanted)
    }
}

/// The port in a controller's target, such as `ssl:192.0.2.1:6653` or `tcp:[::1]`.
pub(super) fn port_of(target: &str) -> Option<u16> {
    let place = target.strip_prefix("tcp:").or_else(|| target.strip_prefix("ssl:"))?;
    let port = match place.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?.1.strip_prefix(':'),
        None => place.split_once(':').map(|(_, port)| port),
    };
    port.map_or(Some(DEFAULT_PORT), |port| port.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_that_does_not_work_is_named_with_its_remedy() {
        let works = BridgeSettings { name: "br0".to_owned(), is_secure: true, ..BridgeSettings::default() };
        assert_eq!(works.problem(), None);
        let named = BridgeSettings { protocols: vec!["OpenFlow13".to_owned()], ..works.clone() };
        assert_eq!(named.problem(), None);
        let cases = [
            (BridgeSettings { is_secure: false, ..works.clone() }, "set bridge br0 fail_mode=secure"),
            (
                BridgeSettings { protocols: vec!["OpenFlow10".to_owned()], ..works.clone() },
                "set bridge br0 protocols=OpenFlow13",
            ),
            (BridgeSettings { has_spanning_tree: true, ..works.clone() }, "STP: ovs-vsctl"),
            (BridgeSettings { has_rapid_spanning_tree: true, ..works.clone() }, "rstp_enable=false"),
        ];
        for (settings, words) in cases {
            let problem = settings.problem().expect("a problem");
            assert!(problem.contains(words) && !problem.contains(';'), "{problem}");
        }
        let both = BridgeSettings { is_secure: false, has_spanning_tree: true, ..works };
        assert!(both.problem().is_some_and(|text| text.contains("secure; bridge br0 blocks ports")));
    }

    #[test]
    fn what_others_have_set_stays_and_what_is_ours_follows_the_setting() {
        let row = |max_backoff, is_ours| ControllerRow { port: Some(6653), max_backoff, is_ours };
        let (second, none) = (MaxBackoff(Some(1_000)), MaxBackoff(None));
        assert_eq!(row(None, false).change(second), Some(second));
        assert_eq!(row(Some(8_000), false).change(second), None);
        assert_eq!(row(Some(2_000), true).change(second), Some(second));
        assert_eq!(row(Some(1_000), true).change(second), None);
        assert_eq!(row(Some(1_000), true).change(none), Some(none));
        assert_eq!((row(Some(1_000), false).change(none), row(None, false).change(none)), (None, None));
    }

    #[test]
    fn targets_have_a_port_unless_the_switch_listens() {
        let ports = [
            ("tcp:192.0.2.1:6654", Some(6654)),
            ("ssl:192.0.2.1", Some(6653)),
            ("tcp:[2001:db8::1]:7000", Some(7000)),
            ("ssl:[2001:db8::1]", Some(6653)),
            ("ptcp:6653", None),
            ("unix:/run/socket", None),
            ("tcp:[2001:db8::1", None),
            ("tcp:192.0.2.1:x", None),
        ];
        for (target, port) in ports {
            assert_eq!(port_of(target), port, "{target}");
        }
    }
}
