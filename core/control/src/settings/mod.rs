//! All settings of the brain, with defaults: timers, limits, path choice and reservations.

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

pub use measurement::MeasurementSettings;
pub use rebalance::RebalanceSettings;

/// How the brain behaves. Durations are of the clock that its events carry.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Proves that discovery frames are ours; secret.
    pub lldp_key: ProbeKey,
    /// How often [`Event::Tick`](crate::Event::Tick) must come at least.
    pub tick: Duration,
    /// Between discovery frames on a link. One that was missed is followed by others four times in each `settle`.
    pub probe_interval: Duration,
    /// How long a new port must show no switch before hosts may be there.
    pub settle: Duration,
    /// How long after the first switch no port is taken for a host's: the others may still be on their way.
    pub start_hold: Duration,
    /// How long a port must be down before one that has shown a host may become a link, or the reverse.
    pub role_hold: Duration,
    /// How long the holder of an address has to answer when it is claimed at another port.
    pub conflict_timeout: Duration,
    /// How long after it has answered it is not asked again.
    pub conflict_hold: Duration,
    /// How long packets with an address are dropped where it was claimed in vain.
    pub source_filter_time: Duration,
    /// Addresses, claims of addresses and searches for addresses that may be new at a port each second; as many at
    /// once after a quiet second. Zero: no limit.
    pub new_addresses: u32,
    /// Connections from a port that may get a path of their own each second, and ten times as many at once after ten
    /// quiet seconds; more take the default path.
    pub new_streams: u32,
    /// Packets that a port may send up to the controller each second, likewise.
    pub packet_ins: u32,
    /// Hosts and addresses remembered.
    pub hosts: HostLimits,
    /// A link is lost when no discovery frame came through for this long.
    pub link_timeout: Duration,
    /// How long links may take to be heard again when switches join with the rules of an earlier controller.
    pub reconcile_timeout: Duration,
    /// A link that goes down this often,
    pub flap_limit: usize,
    /// within this time, is left alone
    pub flap_window: Duration,
    /// for this long; the next time for twice as long, and so on,
    pub flap_hold: Duration,
    /// but no longer than this. A link that was up for so long begins anew.
    pub flap_hold_max: Duration,
    /// A path is taken back when its switches have not confirmed it for this long.
    pub install_timeout: Duration,
    /// How long after switches have confirmed a rule packets may still be treated as before: traffic moves to a path
    /// that much after it is confirmed, and a path is removed that much after traffic has left it.
    pub grace: Duration,
    /// How long a path that nothing uses is kept, as it may be used again.
    pub label_linger: Duration,
    /// How long a path that was taken back is not chosen again.
    pub bar: Duration,
    /// How long a packet waits for a host that is looked for.
    pub lookup_timeout: Duration,
    /// How often the counters of streams are read.
    pub counters_interval: Duration,
    /// A stream has ended when it sent nothing for this long.
    pub stream_idle: Duration,
    /// How links are measured.
    pub measurement: MeasurementSettings,
    /// What links carry, by the port that they leave; of others it is the speed of their ports.
    pub capacities: BTreeMap<SwitchPort, BitsPerSec>,
    /// When streams are moved off full links.
    pub rebalancing: RebalanceSettings,
    /// What a link costs where routes and streams choose the shortest path.
    ///
    /// By [`Weight::HOPS`] routes move only when links come or go. By others they move with what is measured, too.
    pub weight: Weight,
    /// Paths between two switches among which the streams of a transfer are placed.
    pub paths: usize,
    /// How a stream's path is chosen among them.
    pub placement: Policy,
    /// What applications may set aside.
    pub assignments: braid_assign::Limits,
    /// The names of assignments follow from it; secret.
    pub assignment_seed: u64,
    /// Over how many paths plain TCP connections from one host to a port of another are spread; 0 or 1: they are not.
    pub parallel_paths: usize,
    /// How many parallel streams paths can use.
    pub stream_model: StreamModel,
    /// The same for paths of which it is known, by their switches; in both directions.
    pub path_models: BTreeMap<Vec<DatapathId>, StreamModel>,
    /// Whether it is learned how many, path by path, from what announced streams carry.
    pub learn_streams: bool,
    /// Streams and transfers remembered.
    pub streams: Limits,
    /// How long switches have to confirm the rules of advice. Hosts wait for it.
    pub advice_timeout: Duration,
    /// Questions for advice that wait for switches.
    pub max_advice_requests: usize,
    /// Labels in use.
    pub max_labels: usize,
    /// Batches that wait for paths to be confirmed.
    pub max_waiting: usize,
    /// Addresses that are looked for at one time.
    pub max_lookups: usize,
    /// Packets that wait for one address.
    pub max_held: usize,
    /// Default routes in all.
    pub max_routes: usize,
}

impl Settings {
    /// What holds for a connection where the policy file says nothing.
    pub fn policy_defaults(&self) -> PolicyDefaults {
        PolicyDefaults {
            paths: self.paths,
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
            settle: Duration::from_millis(800),
            start_hold: Duration::from_secs(2),
            role_hold: Duration::from_secs(5),
            conflict_timeout: Duration::from_millis(300),
            conflict_hold: Duration::from_secs(1),
            source_filter_time: Duration::from_secs(10),
            new_addresses: 64,
            new_streams: 20,
            packet_ins: 500,
            // A router speaks for all who are behind it.
            hosts: HostLimits { addresses_per_host: 1_024, ..HostLimits::default() },
            link_timeout: Duration::from_millis(2500),
            reconcile_timeout: Duration::from_secs(10),
            flap_limit: 3,
            flap_window: Duration::from_secs(60),
            flap_hold: Duration::from_secs(10),
            flap_hold_max: Duration::from_secs(300),
            install_timeout: Duration::from_secs(2),
            grace: Duration::from_millis(20),
            label_linger: Duration::from_secs(30),
            bar: Duration::from_secs(10),
            lookup_timeout: Duration::from_secs(3),
            counters_interval: Duration::from_secs(1),
            stream_idle: Duration::from_secs(60),
            measurement: MeasurementSettings::default(),
            capacities: BTreeMap::new(),
            rebalancing: RebalanceSettings::default(),
            weight: Weight::HOPS,
            paths: PolicyDefaults::default().paths,
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
