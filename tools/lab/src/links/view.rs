//! The state of a lab's links: parameters, carrier and counters of both ends.

use std::collections::BTreeMap;

use braid_link::{DirectionStatus, LinkStatus, PortStatus};
use braid_link_model::{Amount, Counters, Gauge, Parameters};
use braid_types::{DatapathId, PortNo};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use serde::Serialize;

use super::connect;
use crate::error::LabError;
use crate::folder::Folder;
use crate::plan::{LinkBackend, LinkPlan, LinkPlanEnd, Plan, user_space_devices};
use crate::system::Namespace;

/// A link of a lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkInspection {
    /// Its back-end.
    pub backend: LinkBackend,
    /// `false` if it is cut.
    pub up: bool,
    /// Its two ends.
    pub ends: [LinkEnd; 2],
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkEnd {
    /// The name in the scenario: a switch, or a host and its interface.
    pub name: String,
    /// The switch; `None` at a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dpid: Option<DatapathId>,
    /// Its port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<PortNo>,
    /// The network namespace.
    pub namespace: String,
    /// The interface in it.
    pub device: String,
    /// The parameters of the direction from this end.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// Frame counters of the direction from this end; only links in user space have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<LinkCounters>,
}

/// Frame counters of one direction of a link in user space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkCounters {
    /// The counters of the link model.
    #[serde(flatten)]
    pub model: Counters,
    /// The frames inside now.
    pub inside: Gauge,
    /// Delivered frames that the other end did not take, since the link was cut.
    pub undeliverable: Amount,
    /// Frames dropped before the model.
    #[serde(flatten)]
    pub port: PortStatus,
}

/// The state of a lab's links, and their problems.
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
    let links = plan.links.iter().enumerate();
    let links = links.map(|(index, link)| view(link, living.get(&index), up.is_up(plan, index))).collect();
    Ok((links, problem))
}

pub(super) fn view(link: &LinkPlan, status: Option<&LinkStatus>, up: bool) -> LinkInspection {
    let ends = [0, 1].map(|side| {
        let LinkPlanEnd { name, namespace, device, port } = link.ends[side].clone();
        let direction = status.map(|link| link.directions[side]);
        LinkEnd {
            name,
            dpid: port.map(|(dpid, _)| dpid),
            port: port.map(|(_, port)| port),
            namespace,
            device,
            parameters: direction.map_or(link.directions[side], |direction| direction.parameters),
            counters: status.map(|link| counters(&link.directions[side], link.ports[side])),
        }
    });
    LinkInspection { backend: link.backend, up, ends }
}

fn counters(direction: &DirectionStatus, port: PortStatus) -> LinkCounters {
    let DirectionStatus { counters, inside, undeliverable, .. } = *direction;
    LinkCounters { model: counters, inside, undeliverable, port }
}

/// The namespace and interfaces to set down for cutting a link: their peers lose the carrier.
pub(super) fn cut_points(plan: &Plan, link: usize) -> (Namespace, Vec<String>) {
    // A tunnel does not lose its carrier with the link under it.
    let in_user_space =
        plan.user_space().find(|(_, index, link_plan)| *index == link && link_plan.tunnel.is_none());
    if let Some((number, ..)) = in_user_space {
        return (Namespace::named(plan.lab.links_namespace()), user_space_devices(number).to_vec());
    }
    // A host's interface that is set down would lose its IPv6 addresses.
    let ends = plan.links.get(link).into_iter().flat_map(|link| &link.ends);
    let devices = ends.filter(|end| end.port.is_some()).map(|end| end.device.clone());
    (Namespace::named(&plan.fabric), devices.collect())
}

/// The state of the interfaces at which links are cut.
struct Interfaces {
    fabric: BTreeMap<String, bool>,
    links: BTreeMap<String, bool>,
}

impl Interfaces {
    fn of(plan: &Plan) -> Result<Self, LabError> {
        let links = Namespace::named(plan.lab.links_namespace());
        Ok(Self { fabric: interfaces(&Namespace::named(&plan.fabric))?, links: interfaces(&links)? })
    }

    fn is_up(&self, plan: &Plan, link: usize) -> bool {
        let (namespace, devices) = cut_points(plan, link);
        let table = if namespace == Namespace::named(&plan.fabric) { &self.fabric } else { &self.links };
        devices.iter().all(|device| table.get(device).copied().unwrap_or(false))
    }
}

/// Whether each interface is up; empty for a missing namespace.
fn interfaces(namespace: &Namespace) -> Result<BTreeMap<String, bool>, LabError> {
    if !namespace.exists() {
        return Ok(BTreeMap::new());
    }
    namespace.run(|| {
        let all = getifaddrs().map_err(|error| LabError::io("listing interfaces", error.into()))?;
        Ok(all.map(|it| (it.interface_name, it.flags.contains(InterfaceFlags::IFF_UP))).collect())
    })
}
