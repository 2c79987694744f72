//! A scenario with the settings of one variant applied.

use super::{Host, Scenario, Variant};

impl Scenario {
    /// The scenario with the settings of `variant`.
    pub fn with_variant(&self, variant: &Variant) -> Self {
        let mut scenario = self.clone();
        let is_multipath = |host: &Host| host.mptcp.used;
        let all_alike = !self.topology.hosts.iter().any(is_multipath);
        for host in &mut scenario.topology.hosts {
            if let Some(subflows) = variant.subflows.filter(|_| is_multipath(host)) {
                host.mptcp.subflows = subflows;
            }
            if let Some(accept) = variant.accept_addresses.filter(|_| is_multipath(host)) {
                host.mptcp.accept_addresses = accept;
            }
            if let Some(flags) = &variant.endpoint_flags {
                host.mptcp.endpoints.iter_mut().for_each(|endpoint| endpoint.flags.clone_from(flags));
            }
            let is_meant = host.congestion_control.is_some() && (all_alike || is_multipath(host));
            if let Some(name) = variant.congestion_control.as_ref().filter(|_| is_meant) {
                host.congestion_control = Some(name.clone());
            }
        }
        if let Some(sites) = &mut scenario.topology.sites {
            variant.lines.iter().for_each(|lines| sites.used.clone_from(lines));
            sites.tunnel = variant.tunnel.unwrap_or(sites.tunnel);
        }
        scenario.topology.rewrite |= variant.rewrite;
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
    use crate::scenario::{Mode, Mptcp};

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
        assert_eq!([left, right].map(|host| (host.mptcp.used, host.mptcp.subflows)), [(true, 0); 2]);
        assert_eq!((left.congestion_control.as_deref(), &right.congestion_control), (Some("cubic"), &None));
    }

    #[test]
    fn hosts_of_plain_tcp_keep_their_congestion_control_beside_those_of_multipath_tcp() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/two-paths.yaml");
        let mut scenario = Scenario::load(&path).unwrap();
        for host in &mut scenario.topology.hosts {
            host.congestion_control = Some("reno".to_owned());
        }
        scenario.topology.hosts[1].mptcp = Mptcp::default();
        let cubic = Variant { congestion_control: Some("cubic".to_owned()), ..Variant::default() };
        let names = |scenario: &Scenario| {
            scenario
                .topology
                .hosts
                .iter()
                .map(|host| host.congestion_control.clone().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&scenario.with_variant(&cubic)), ["cubic", "reno"]);
        scenario.topology.hosts[0].mptcp = Mptcp::default();
        assert_eq!(names(&scenario.with_variant(&cubic)), ["cubic", "cubic"]);
    }
}
