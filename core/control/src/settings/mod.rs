//! All settings of the brain, with defaults: timers, limits, path choice and reservations.

mod health;
mod measurement;
mod rebalance;

use std::collections::BTreeMap;
use std::time::Duration;

use braid_assign::StreamModel;
use braid_packet::lldp::ProbeKey;
use braid_paths::Weight;
use braid_planner::PolicyDefaults;
use braid_steering::{Limits, Policy};
use braid_topology::HostLimits;
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

pub use health::HealthSettings;
pub use measurement::MeasurementSettings;
pub use rebalance::RebalanceSettings;

/// The settings of the brain. Durations use the clock of its events.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The key that authenticates discovery frames; secret.
    pub lldp_key: ProbeKey,
    /// The longest time between two [`Event::Tick`](crate::Event::Tick).
    pub tick: Duration,
    /// The time between discovery frames on a link. After a missed frame, four are sent in each `settle`.
    pub probe_interval: Duration,
    /// Discovery frames a second at rest, in the whole network. With more ports than that in a `probe_interval`,
    /// the interval and `link_timeout` become longer.
    pub probe_rate: u32,
    /// Discovery frames in a `tick` at the start. While ports wait for frames, it grows to four times as many; a
    /// busy controller sends fewer.
    pub probe_burst: u32,
    /// How long a new port must show no switch before it becomes a host port.
    pub settle: Duration,
    /// How long after the first switch no port becomes a host port, since other switches may still be
    /// joining.
    pub start_hold: Duration,
    /// How long a port must be down before a host port may become a link, or the reverse.
    pub role_hold: Duration,
    /// How long the holder of an address has to answer after a conflict at another port.
    pub conflict_timeout: Duration,
    /// How long the holder is not probed again after it has answered.
    pub conflict_hold: Duration,
    /// How long packets with an address are dropped at the port that used it in vain.
    pub source_filter_time: Duration,
    /// New addresses, address conflicts and lookups of a port each second, which is also the burst. 0:
    /// unlimited.
    pub new_addresses: u32,
    /// Connections of a port that may get their own paths each second; the burst is ten times as many.
    /// Further ones take the default path.
    pub new_streams: u32,
    /// Packets that a port may punt to the controller each second, which is also the burst.
    pub punt_rate: u32,
    /// Limits on remembered hosts and addresses.
    pub hosts: HostLimits,
    /// A link is lost when no discovery frame has arrived through it for this long.
    pub link_timeout: Duration,
    /// How long reconciliation waits for links to be heard again.
    pub reconcile_timeout: Duration,
    /// A link is damped after this many losses within [`Self::flap_window`].
    pub flap_limit: usize,
    /// The time in which losses of a link count together.
    pub flap_window: Duration,
    /// The first hold of a damped link. Each further hold is twice as long.
    pub flap_hold: Duration,
    /// The longest hold. A link that stays up for this long starts afresh.
    pub flap_hold_max: Duration,
    /// A path that is not confirmed for this long is removed.
    pub install_timeout: Duration,
    /// How long switches may apply old rules after confirming new ones. Traffic moves to a path this long
    /// after its confirmation, and a path is removed this long after traffic has left it.
    pub barrier_grace: Duration,
    /// How long an unused path is kept for reuse.
    pub label_linger: Duration,
    /// How long a path that was removed as failed is suspended.
    pub path_suspend_time: Duration,
    /// How long a packet is held during a lookup.
    pub lookup_timeout: Duration,
    /// The time between readings of stream counters.
    pub counters_interval: Duration,
    /// A stream ends after sending nothing for this long.
    pub stream_idle: Duration,
    /// How links are measured.
    pub measurement: MeasurementSettings,
    /// When links that lose frames are avoided.
    pub health: HealthSettings,
    /// Capacities of links by sending port. Others have the speed of their ports.
    pub capacities: BTreeMap<SwitchPort, BitsPerSec>,
    /// When streams are moved off full links.
    pub rebalancing: RebalanceSettings,
    /// The cost of a link in shortest paths of routes and streams.
    ///
    /// With [`Weight::HOPS`] routes move only when links are added or removed. With others they also follow
    /// measurements.
    pub weight: Weight,
    /// The number of equal-cost paths over which default paths spread flows. 0 or 1: each takes one path.
    pub ecmp_paths: usize,
    /// The number of paths between two switches for the streams of a transfer.
    pub max_paths: usize,
    /// How a stream's path is chosen among them.
    pub placement: Policy,
    /// Limits on assignments.
    pub assignments: braid_assign::Limits,
    /// The seed of assignment names; secret.
    pub assignment_seed: u64,
    /// The number of paths over which plain TCP connections from one host to a port of another are spread. 0
    /// or 1: they are not spread.
    pub parallel_paths: usize,
    /// The number of parallel streams that a path can use.
    pub stream_model: StreamModel,
    /// Models of single paths, by their switches, in both directions.
    pub path_models: BTreeMap<Vec<DatapathId>, StreamModel>,
    /// Whether models are learned for each path from announced streams.
    pub learn_streams: bool,
    /// Limits on streams and transfers.
    pub streams: Limits,
    /// How long switches have to confirm the rules of advice, for which hosts wait.
    pub advice_timeout: Duration,
    /// Pending advice requests.
    pub max_advice_requests: usize,
    /// Labels in use.
    pub max_labels: usize,
    /// Transactions that wait for paths to be confirmed.
    pub max_waiting: usize,
    /// Lookups at one time.
    pub max_lookups: usize,
    /// Packets held for one address.
    pub max_held: usize,
    /// Default paths in all.
    pub max_routes: usize,
}

impl Settings {
    /// What holds for a connection where the policy file says nothing.
    pub fn policy_defaults(&self) -> PolicyDefaults {
        PolicyDefaults {
            paths: self.max_paths,
            placement: self.placement,
            parallel_paths: self.parallel_paths,
            max_assigned_paths: self.assignments.paths,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lldp_key: ProbeKey::new([0; 32]),
            tick: Duration::from_millis(100),
            probe_interval: Duration::from_secs(1),
            probe_rate: 4_096,
            probe_burst: 500,
            settle: Duration::from_millis(800),
            start_hold: Duration::from_secs(2),
            role_hold: Duration::from_secs(5),
            conflict_timeout: Duration::from_millis(300),
            conflict_hold: Duration::from_secs(1),
            source_filter_time: Duration::from_secs(10),
            new_addresses: 64,
            new_streams: 20,
            punt_rate: 500,
            // A router uses the addresses of all hosts behind it.
            hosts: HostLimits { addresses_per_host: 1_024, ..HostLimits::default() },
            link_timeout: Duration::from_millis(2500),
            reconcile_timeout: Duration::from_secs(10),
            flap_limit: 3,
            flap_window: Duration::from_secs(60),
            flap_hold: Duration::from_secs(10),
            flap_hold_max: Duration::from_secs(300),
            install_timeout: Duration::from_secs(2),
            barrier_grace: Duration::from_millis(20),
            label_linger: Duration::from_secs(30),
            path_suspend_time: Duration::from_secs(10),
            lookup_timeout: Duration::from_secs(3),
            counters_interval: Duration::from_secs(1),
            stream_idle: Duration::from_secs(60),
            measurement: MeasurementSettings::default(),
            health: HealthSettings::default(),
            capacities: BTreeMap::new(),
            rebalancing: RebalanceSettings::default(),
            weight: Weight::HOPS,
            ecmp_paths: 8,
            max_paths: PolicyDefaults::default().paths,
            placement: PolicyDefaults::default().placement,
            assignments: braid_assign::Limits::default(),
            assignment_seed: 0,
            parallel_paths: PolicyDefaults::default().parallel_paths,
            stream_model: StreamModel::default(),
            path_models: BTreeMap::new(),
            learn_streams: false,
            streams: Limits::default(),
            advice_timeout: Duration::from_secs(1),
            max_advice_requests: 256,
            max_labels: 65_536,
            max_waiting: 4_096,
            max_lookups: 1_024,
            max_held: 16,
            max_routes: 1_000_000,
        }
    }
}
