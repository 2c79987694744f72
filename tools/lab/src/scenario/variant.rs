use super::{Mptcp, Scenario, Variant};

impl Scenario {
    /// The scenario as `variant` has it.
    pub fn with_variant(&self, variant: &Variant) -> Self {
        let mut scenario = self.clone();
        for host in &mut scenario.topology.hosts {
            if let Some(subflows) = variant.subflows.filter(|_| host.mptcp != Mptcp::default()) {
                host.mptcp.subflows = subflows;
            }
            if host.congestion_control.is_some() && variant.congestion_control.is_some() {
                host.congestion_control.clone_from(&variant.congestion_control);
            }
        }
        if let Some(traffic) = &mut scenario.traffic {
            variant.modes.iter().for_each(|modes| traffic.modes.clone_from(modes));
            variant.streams.iter().for_each(|streams| traffic.streams.clone_from(streams));
            traffic.assign = variant.assign.or(traffic.assign);
        }
        scenario
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::Mode;

    #[test]
    fn hosts_and_traffic_become_what_the_variant_says_and_nothing_else_changes() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/two-paths.yaml");
        let mut scenario = Scenario::load(&path).unwrap();
        scenario.topology.hosts[1].congestion_control = None;
        assert_eq!(scenario.with_variant(&Variant::default()), scenario);
        let variant = Variant {
            modes: Some(vec![Mode::Mptcp]),
            subflows: Some(0),
            congestion_control: Some("cubic".to_owned()),
            ..Variant::default()
        };
        let other = scenario.with_variant(&variant);
        assert_eq!(other.traffic.unwrap().modes, [Mode::Mptcp]);
        let [left, right] = &other.topology.hosts[..] else { panic!() };
        assert_eq!([left.mptcp.subflows, right.mptcp.subflows], [0, 0]);
        assert_eq!((left.congestion_control.as_deref(), &right.congestion_control), (Some("cubic"), &None));
    }
}
