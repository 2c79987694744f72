//! Command-line options turned into a controller's configuration.

use std::collections::BTreeMap;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use braid_api::Position;
use braid_assign::{Growth, StreamModel};
use braid_controller::{
    Access, Agents, Config, HealthSettings, HostMetadata, HostNames, Listen, OvsdbConfig, PolicyFile,
    RebalanceSettings, Settings, SwitchAccess, SwitchMetadata, SwitchMetadataMap, Testbed, Tls, Tokens,
};
use braid_link_model::Probability;
use braid_topology::blueprint::{Blueprint, Switch};
use braid_types::{BitsPerSec, SwitchPort};

use super::options::Run;
use crate::calibrate::ModelFile;
use crate::exit::{Code, ExitWith};
use crate::testbed::LabTestbed;
use crate::topology::source::{self, LinkArgs, Loaded, Source};

/// The configuration that the options say, with all files read and checked.
pub(super) fn of(run: Run) -> anyhow::Result<Config> {
    let openflow = match run.openflow_fd {
        Some(fd) => Listen::Inherited(inherited(fd)),
        None => Listen::Address(run.openflow),
    };
    let agents = run.agent_tokens.as_deref().map(Agents::read).transpose().exit_with(Code::Usage)?;
    let policy = run.policy.as_deref().map(PolicyFile::read).transpose().exit_with(Code::Usage)?;
    let access = access(&run)?;
    let network = run.network.clone().map(network).transpose()?;
    Ok(Config {
        openflow,
        openflow_tls: run.openflow_tls.read()?,
        http: run.http,
        http_inherited: run.http_fd.iter().copied().map(inherited).collect(),
        record: run.record.clone(),
        agents: agents.unwrap_or_default(),
        access,
        testbed: run.lab.clone().map(|lab| Arc::new(LabTestbed(lab)) as Arc<dyn Testbed>),
        policy,
        reload: None,
        cluster: run.cluster.read()?,
        switch_access: SwitchAccess {
            allowed: run.switches.clone(),
            trusted: run.openflow_trusted,
            per_address: run.switches_per_address,
        },
        ovsdb: OvsdbConfig {
            databases: run.ovsdb.clone(),
            max_backoff: (run.ovsdb_max_backoff > 0)
                .then(|| Duration::from_millis(run.ovsdb_max_backoff.into())),
        },
        switch_metadata: network.as_ref().map(switch_metadata).unwrap_or_default(),
        host_metadata: network.as_ref().map(host_metadata).unwrap_or_default(),
        settings: settings(run, network.as_ref())?,
    })
}

fn access(run: &Run) -> anyhow::Result<Access> {
    let tokens = run.tokens.as_deref().map(Tokens::read).transpose().exit_with(Code::Usage)?;
    let pair = run.tls_certificate.as_deref().zip(run.tls_key.as_deref());
    let tls =
        pair.map(|(certificate, key)| Tls::read(certificate, key)).transpose().exit_with(Code::Usage)?;
    let hosts = HostNames::new(run.http_hosts.iter().cloned());
    Ok(Access { tokens, tls, trusted: run.http_trusted, hosts })
}

fn settings(run: Run, network: Option<&Blueprint>) -> anyhow::Result<Settings> {
    let saturation_loss =
        if run.streams_growth == Growth::Line { 1.0 } else { StreamModel::default().saturation_loss };
    let given = StreamModel { a: run.streams_a, saturation_loss, growth: run.streams_growth };
    let measured = run.stream_model.as_deref().map(ModelFile::read).transpose().exit_with(Code::Usage)?;
    let model = measured.as_ref().map_or(given, ModelFile::network);
    Ok(Settings {
        parallel_paths: usize::from(run.parallel),
        stream_model: model.checked().exit_with(Code::Usage)?,
        learn_streams: run.learn_streams,
        path_models: measured.map(|file| file.paths()).unwrap_or_default(),
        placement: run.placement,
        ecmp_paths: run.ecmp,
        weight: run.weight,
        capacities: network.map(capacities).unwrap_or_default(),
        rebalancing: RebalanceSettings {
            moves_per_minute: run.rebalance_limit,
            ..RebalanceSettings::default()
        },
        health: HealthSettings {
            enabled: run.loss_limit > Probability::ZERO,
            loss_limit: run.loss_limit.share(),
            ..HealthSettings::default()
        },
        punt_rate: run.port_packet_ins,
        new_streams: run.port_new_streams,
        new_addresses: run.port_new_addresses,
        ..Settings::default()
    })
}

fn network(file: PathBuf) -> anyhow::Result<Blueprint> {
    let Loaded { blueprint, warnings } = source::load(&Source::File(file), LinkArgs::default())?;
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    Ok(blueprint)
}

/// The capacities of a network's directed links, by the port that they leave.
fn capacities(network: &Blueprint) -> BTreeMap<SwitchPort, BitsPerSec> {
    network.directed_links().map(|(link, state)| (link.src, state.capacity)).collect()
}

/// The names, groups and positions of a network's switches.
fn switch_metadata(network: &Blueprint) -> SwitchMetadataMap {
    let position = |it: braid_topology::blueprint::Position| Position {
        latitude: it.latitude(),
        longitude: it.longitude(),
    };
    let metadata = |switch: &Switch| SwitchMetadata {
        name: Some(switch.name.clone()),
        group: switch.group.clone(),
        position: switch.position.map(position),
    };
    network.switches().iter().map(|switch| (switch.dpid, metadata(switch))).collect()
}

/// The names of a network's hosts, by the ports where they are attached.
fn host_metadata(network: &Blueprint) -> HostMetadata {
    let hosts = network.hosts().iter();
    let ports =
        hosts.flat_map(|host| host.interfaces.iter().map(|it| (network.port_at(it.end), host.name.clone())));
    HostMetadata { by_port: ports.collect(), ..HostMetadata::default() }
}

#[expect(unsafe_code, reason = "there is no safe way to take over an inherited descriptor")]
fn inherited(fd: i32) -> OwnedFd {
    // SAFETY: this runs before the process opens descriptors of its own, so nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
