//! The report on a machine: one check per feature, and the back-ends that it can use.

use serde::Serialize;

/// The features of a machine, and the labs that it can run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    /// One check for each feature, in reading order.
    pub checks: Vec<Check>,
    /// The back-ends that labs use on this machine.
    pub backends: Backends,
    /// Whether all required features work.
    pub ok: bool,
}

/// The check of one feature.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// The feature's name, stable between versions of Braid.
    pub name: &'static str,
    /// Its state.
    pub state: State,
    /// Whether labs require it; without an optional one only its purpose is lost.
    pub needed: bool,
    /// Its purpose.
    pub purpose: &'static str,
    /// The result of the probe.
    pub detail: String,
    /// The remedy, unless it works.
    pub fix: Option<String>,
}

/// The state of a feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It works.
    Ok,
    /// It is missing.
    Missing,
    /// It exists and does not work, or could not be tried.
    Unusable,
}

/// The back-ends that labs use on a machine; `None` where none works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Backends {
    /// The datapath of switches, as Open vSwitch names it: `netdev` runs in user space.
    pub datapath: Option<&'static str>,
    /// The queueing discipline that limits the rate of links.
    pub rate: Option<&'static str>,
    /// The emulator of delay and loss: `netem`, or Braid's link emulator in `user-space`, which also does jitter.
    pub delay: Option<&'static str>,
    /// The path managers: the kernel's, or an agent on the host as well.
    pub path_managers: &'static [&'static str],
}

/// The result of a probe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Finding {
    pub(super) state: State,
    pub(super) detail: String,
    /// The remedy, if it differs from the usual one.
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(detail: impl Into<String>) -> Self {
        Self { state: State::Ok, detail: detail.into(), fix: None }
    }

    pub(super) fn missing(detail: impl Into<String>) -> Self {
        Self { state: State::Missing, detail: detail.into(), fix: None }
    }

    pub(super) fn unusable(detail: impl Into<String>) -> Self {
        Self { state: State::Unusable, detail: detail.into(), fix: None }
    }

    pub(super) fn with_fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

impl Report {
    pub(super) fn new(checks: Vec<Check>) -> Self {
        let backends = Backends::of(&checks);
        let ok = checks.iter().all(|check| check.state == State::Ok || !check.needed);
        Self { schema: "braid/v1", checks, backends, ok }
    }
}

impl Backends {
    fn of(checks: &[Check]) -> Self {
        let has = |name| checks.iter().any(|check| check.name == name && check.state == State::Ok);
        let path_managers: &[_] = match (has("mptcp"), has("mptcp-user-space")) {
            (false, _) => &[],
            (true, false) => &["kernel"],
            (true, true) => &["kernel", "userspace"],
        };
        Self {
            datapath: has("ovs-vswitchd").then_some("netdev"),
            rate: has("qdisc-tbf").then_some("tbf"),
            delay: match (has("qdisc-netem"), has("user-space-links")) {
                (true, _) => Some("netem"),
                (false, true) => Some("user-space"),
                (false, false) => None,
            },
            path_managers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::requirement::{MPTCP, NETEM, TBF};
    use super::*;

    #[test]
    fn machine_that_lacks_only_what_is_optional_is_usable() {
        let report =
            Report::new(vec![TBF.check(Finding::ok("")), NETEM.check(Finding::missing("no such kind"))]);
        assert!(report.ok);
        assert_eq!((report.backends.rate, report.backends.delay), (Some("tbf"), None));
        assert_eq!(report.checks[1].fix.as_deref(), Some("use a kernel with CONFIG_NET_SCH_NETEM"));
    }

    #[test]
    fn machine_on_which_something_needed_does_not_work_is_not_usable() {
        let finding = Finding::unusable("off").with_fix("turn it on");
        let report = Report::new(vec![TBF.check(Finding::ok("")), MPTCP.check(finding)]);
        assert!(!report.ok);
        assert_eq!(report.backends.path_managers, [""; 0]);
        assert_eq!(
            report.checks.iter().map(|check| check.fix.as_deref()).collect::<Vec<_>>(),
            [None, Some("turn it on")]
        );
    }
}
