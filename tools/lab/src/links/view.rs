//! Links of a lab as they are: parameters, state and counters of both ends.

use std::collections::BTreeMap;

use braid_link::{LinkStatus, PortStatus, WayStatus};
use braid_link_model::{Amount, Counters, Gauge, Parameters};
use braid_types::{DatapathId, PortNo};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use serde::Serialize;

use super::connect;
use crate::error::LabError;
use crate::folder::Folder;
use crate::plan::{Cable, CableEnd, LinkBackend, Plan, user_space_devices};
use crate::system::Namespace;

/// A link of a lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkInspection {
    /// What makes it what it is.
    pub backend: LinkBackend,
    /// Whether it is whole, or cut.
    pub up: bool,
    /// What it joins.
    pub ends: [LinkEnd; 2],
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkEnd {
    /// As in the scenario: a switch, or a host and its interface.
    pub name: String,
    /// The switch; none at a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dpid: Option<DatapathId>,
    /// Its port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<PortNo>,
    /// The network namespace.
    pub namespace: String,
    /// The interface in it.
    pub device: String,
    /// What the link is like from this end to the other.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// What became of the frames from this end; only links in user space count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<LinkCounters>,
}

/// What became of the frames that an end of a link in user space sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkCounters {
    /// In the link's model.
    #[serde(flatten)]
    pub model: Counters,
    /// What is inside now.
    pub inside: Gauge,
    /// Of those delivered, what the other end did not take, since the link was cut.
    pub undeliverable: Amount,
    /// What never came into the model.
    #[serde(flatten)]
    pub port: PortStatus,
}

/// The links of a lab as they are now, and what is wrong with them.
pub(crate) fn inspect(
    folder: &Folder,
    plan: &Plan,
) -> Result<(Vec<LinkInspection>, Option<LabError>), LabError> {
    let mut living = BTreeMap::new();
    let mut problem = None;
    if plan.user_space().next().is_some() {
        match connect(folder).and_then(|mut client| Ok(client.status()?)) {
            Ok(status) => living = plan.user_space().map(|(_, index, _)| index).zip(status.links).collect(),
            Err(error) => problem = Some(error),
        }
    }
    let up = Interfaces::of(plan)?;
    let links = plan.cables.iter().enumerate();
    let links = links.map(|(index, cable)| view(cable, living.get(&index), up.is_up(plan, index))).collect();
    Ok((links, problem))
}

pub(super) fn view(cable: &Cable, status: Option<&LinkStatus>, up: bool) -> LinkInspection {
    let ends = [0, 1].map(|side| {
        let CableEnd { name, namespace, device, port } = cable.ends[side].clone();
        let way = status.map(|link| link.ways[side]);
        LinkEnd {
            name,
            dpid: port.map(|(dpid, _)| dpid),
            port: port.map(|(_, port)| port),
            namespace,
            device,
            parameters: way.map_or(cable.ways[side], |way| way.parameters),
            counters: status.map(|link| counters(&link.ways[side], link.ports[side])),
        }
    });
    LinkInspection { backend: cable.backend, up, ends }
}

fn counters(way: &WayStatus, port: PortStatus) -> LinkCounters {
    let WayStatus { counters, inside, undeliverable, .. } = *way;
    LinkCounters { model: counters, inside, undeliverable, port }
}

/// Where a link is cut: the namespace, and the interfaces in it whose other ends then have no carrier.
pub(super) fn cut_points(plan: &Plan, cable: usize) -> (Namespace, Vec<String>) {
    if let Some((number, ..)) = plan.user_space().find(|(_, index, _)| *index == cable) {
        return (Namespace::named(plan.lab.links_namespace()), user_space_devices(number).to_vec());
    }
    // A host's interface that went down would lose its addresses.
    let ends = plan.cables.get(cable).into_iter().flat_map(|cable| &cable.ends);
    let devices = ends.filter(|end| end.port.is_some()).map(|end| end.device.clone());
    (Namespace::named(&plan.fabric), devices.collect())
}

/// Which interfaces are up, where links are cut.
struct Interfaces {
    fabric: BTreeMap<String, bool>,
    links: BTreeMap<String, bool>,
}

impl Interfaces {
    fn of(plan: &Plan) -> Result<Self, LabError> {
        let links = Namespace::named(plan.lab.links_namespace());
        Ok(Self { fabric: interfaces(&Namespace::named(&plan.fabric))?, links: interfaces(&links)? })
    }

    fn is_up(&self, plan: &Plan, cable: usize) -> bool {
        let (namespace, devices) = cut_points(plan, cable);
        let table = if namespace == Namespace::named(&plan.fabric) { &self.fabric } else { &self.links };
        devices.iter().all(|device| table.get(device).copied().unwrap_or(false))
    }
}

/// For each interface whether it is up; none in a namespace that is not there.
fn interfaces(namespace: &Namespace) -> Result<BTreeMap<String, bool>, LabError> {
    if !namespace.exists() {
        return Ok(BTreeMap::new());
    }
    namespace.run(|| {
        let all = getifaddrs().map_err(|error| LabError::io("listing interfaces", error.into()))?;
        Ok(all.map(|it| (it.interface_name, it.flags.contains(InterfaceFlags::IFF_UP))).collect())
    })
}
