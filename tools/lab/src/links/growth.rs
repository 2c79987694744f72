//! Links between the switches of a lab, added and removed while it is up.

use braid_link_model::{Change, Parameters};

use super::WhichLink;
use super::change::{find, title};
use super::view::{LinkInspection, inspect};
use crate::doctor;
use crate::error::LabError;
use crate::folder::{Folder, Lock};
use crate::journal::{Entry, Journal};
use crate::names::LabName;
use crate::ovs::OpenVSwitch;
use crate::plan::{Commands, LinkBackend, LinkPlan, Plan, shaper};
use crate::scenario::usual_queue;
use crate::store::Labs;
use crate::system::{Marker, Namespace, Tool};
use crate::teardown::patient_lock;

impl Labs {
    /// Adds a link between two switches of lab `name`, which gives both a new port, and returns its state.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], [`LabError::Busy`] while a process runs the lab's scenario, [`LabError::NoSwitch`],
    /// [`LabError::Parameters`] or [`LabError::Refused`] if such a link cannot be, or another failure, after which the link
    /// is not there.
    pub fn add_link(
        &self,
        name: &LabName,
        between: [&str; 2],
        properties: &Change,
    ) -> Result<LinkInspection, LabError> {
        let (folder, mut plan, _lock) = self.open_alone(name)?;
        let bridges = [bridge(&plan, between[0])?, bridge(&plan, between[1])?];
        let parameters = parameters(properties)?;
        let backend = self.backend(bridges, &parameters)?;
        let index = plan.add_link(bridges, [parameters; 2], backend);
        let growth = Growth::of(&folder, &plan)?;
        let link = &plan.links[index];
        if let Err(error) = growth.add(link).and_then(|()| folder.write_plan(&plan)) {
            // The first failure is the one to report.
            let _ = growth.remove(link);
            return Err(error);
        }
        let (mut links, problem) = inspect(&folder, &plan)?;
        problem.map_or_else(|| Ok(links.swap_remove(index)), Err)
    }

    /// Removes a link between two switches of lab `name`, with both ports, and returns its last state.
    ///
    /// # Errors
    ///
    /// As [`Self::add_link`], and [`LabError::NoLink`] or [`LabError::ManyLinks`].
    pub fn remove_link(&self, name: &LabName, which: &WhichLink) -> Result<LinkInspection, LabError> {
        let (folder, mut plan, _lock) = self.open_alone(name)?;
        let (index, _) = find(&plan, which)?;
        let link = removable(&plan, index)?;
        let (mut links, problem) = inspect(&folder, &plan)?;
        problem.map_or(Ok(()), Err)?;
        Growth::of(&folder, &plan)?.remove(link)?;
        plan.remove_link(index);
        folder.write_plan(&plan)?;
        Ok(links.swap_remove(index))
    }

    /// A lab that no other process runs, removes or adds links to.
    fn open_alone(&self, name: &LabName) -> Result<(Folder, Plan, [Lock; 2]), LabError> {
        let (folder, _) = self.open(name)?;
        let alone = patient_lock(&folder)?;
        let (folder, plan, unchanged) = self.open_to_change(name)?;
        Ok((folder, plan, [alone, unchanged]))
    }

    /// How such a link is made; the process of links in user space takes no new ones.
    fn backend(&self, [a, b]: [usize; 2], parameters: &Parameters) -> Result<LinkBackend, LabError> {
        if a == b {
            return Err(LabError::Refused("a link joins two different switches".to_owned()));
        }
        let netem = || self.may_use_netem() && doctor::has_netem();
        LinkBackend::in_kernel(parameters, netem).ok_or_else(|| {
            let why =
                "a link that is added is made by the kernel, which here can give it a rate and a queue only";
            LabError::Refused(format!("{why}: put a link with more into the scenario, and deploy again"))
        })
    }
}

/// What an added link is like, with the queue of a scenario's links.
fn parameters(properties: &Change) -> Result<Parameters, LabError> {
    let needed = || LabError::Refused("a link that is added has a rate: name one, such as 50Mbit".to_owned());
    let queue = usual_queue(properties.rate.ok_or_else(needed)?);
    let parameters = Parameters { queue, ..Parameters::default() }.with(properties);
    parameters.check().map_err(LabError::Parameters)?;
    Ok(parameters)
}

fn bridge(plan: &Plan, name: &str) -> Result<usize, LabError> {
    plan.bridge(name).ok_or_else(|| no_switch(plan, name))
}

fn no_switch(plan: &Plan, name: &str) -> LabError {
    let switches = plan.bridges().map(|bridge| bridge.name.clone()).collect();
    LabError::NoSwitch { lab: plan.lab.clone(), switch: name.to_owned(), switches }
}

/// The link, if both of its ends are bridges and it is made by the kernel.
fn removable(plan: &Plan, index: usize) -> Result<&LinkPlan, LabError> {
    let link = &plan.links[index];
    if let Some(end) = link.ends.iter().find(|end| plan.bridge(&end.name).is_none()) {
        return Err(no_switch(plan, &end.name));
    }
    if link.backend == LinkBackend::UserSpace {
        let why = "is made by a process that keeps its links: cut it with `braid lab link set … --down`";
        return Err(LabError::Refused(format!("link {} {why}", title(link))));
    }
    if link.tunnel.is_some() {
        let why = "is a tunnel of the scenario: cut it with `braid lab link set … --down`";
        return Err(LabError::Refused(format!("link {} {why}", title(link))));
    }
    Ok(link)
}

/// What changes the network of a lab that is up.
struct Growth<'a> {
    folder: &'a Folder,
    plan: &'a Plan,
    marker: Marker,
}

impl<'a> Growth<'a> {
    fn of(folder: &'a Folder, plan: &'a Plan) -> Result<Self, LabError> {
        let entries = Journal::read(&folder.journal())?;
        let marker = entries.into_iter().find_map(|entry| match entry {
            Entry::Marker(marker) => Some(marker),
            Entry::Namespace(_) => None,
        });
        Ok(Self { folder, plan, marker: marker.ok_or_else(|| LabError::NoLab(plan.lab.clone()))? })
    }

    fn add(&self, link: &LinkPlan) -> Result<(), LabError> {
        // `ip` enters the namespace, so that the pair is made there.
        self.batch("ip", Commands(self.plan).link(link))?;
        let ovs = OpenVSwitch::new(self.folder, &self.marker);
        ovs.add_ports(link)?;
        ovs.deepen_buffers(self.plan)?;
        // Only now: Open vSwitch removes the queueing discipline of an interface that becomes its port.
        self.batch("tc", [0, 1].map(|side| shaper(link, side)).concat())
    }

    fn remove(&self, link: &LinkPlan) -> Result<(), LabError> {
        OpenVSwitch::new(self.folder, &self.marker).remove_ports(link)?;
        // The other end goes with it.
        self.batch("ip", format!("link del {}\n", link.ends[0].device))
    }

    fn batch(&self, tool: &str, commands: String) -> Result<(), LabError> {
        let fabric = Namespace::named(&self.plan.fabric);
        Tool::unmarked(tool).args(["-batch", "-"]).input(commands).within(&fabric).run().map(drop)
    }
}
