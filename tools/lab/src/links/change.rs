//! Changes of a lab's links while traffic runs: parameters, cuts and repairs.

use braid_link::{Change as Order, ControlError};
use braid_link_model::Change;

use super::connect;
use super::view::{LinkInspection, cut_points, inspect};
use crate::error::LabError;
use crate::folder::{Folder, Lock};
use crate::names::LabName;
use crate::plan::{LinkBackend, LinkPlan, LinkPlanEnd, Plan, shaper};
use crate::store::Labs;
use crate::system::{Namespace, Tool};

/// The name of a link, by its two ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhichLink {
    /// One end: `SWITCH`, `SWITCH:PORT`, `HOST` or `HOST.INTERFACE`.
    pub from: String,
    /// The other end.
    pub to: String,
    /// The number, from 1, of several links between the two.
    pub nth: Option<usize>,
}

/// A change of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkEdit {
    /// Changes of the direction from [`WhichLink::from`] to [`WhichLink::to`], and of the reverse direction.
    pub directions: [Change; 2],
    /// `true` restores the link, `false` cuts it.
    pub up: Option<bool>,
}

impl Labs {
    /// The current state of the links of lab `name`.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], or [`LabError::LinkProcess`] if the link process has ended.
    pub fn links(&self, name: &LabName) -> Result<Vec<LinkInspection>, LabError> {
        let (folder, plan) = self.open(name)?;
        let (links, problem) = inspect(&folder, &plan)?;
        problem.map_or(Ok(links), Err)
    }

    /// Changes a link of lab `name` at run time and returns its new state. Unnamed properties keep their values.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], [`LabError::NoLink`], [`LabError::ManyLinks`], [`LabError::FixedLink`] if the back-end
    /// cannot do it, [`LabError::Parameters`] if the values are invalid, or another failure.
    pub fn change_link(
        &self,
        name: &LabName,
        which: &WhichLink,
        edit: &LinkEdit,
    ) -> Result<LinkInspection, LabError> {
        let (folder, mut plan, _lock) = self.open_to_change(name)?;
        let (index, reversed) = find(&plan, which)?;
        let [there, back] = edit.directions;
        let directions = if reversed { [back, there] } else { [there, back] };
        edit_link(&folder, &mut plan, index, directions, edit.up)?;
        let (mut links, problem) = inspect(&folder, &plan)?;
        problem.map_or_else(|| Ok(links.swap_remove(index)), Err)
    }

    /// A lab's plan, which nobody else changes meanwhile.
    pub(super) fn open_to_change(&self, name: &LabName) -> Result<(Folder, Plan, Lock), LabError> {
        let (folder, _) = self.open(name)?;
        let lock = folder.plan_lock()?;
        let (folder, plan) = self.open(name)?;
        Ok((folder, plan, lock))
    }

    pub(super) fn open(&self, name: &LabName) -> Result<(Folder, Plan), LabError> {
        let folder = self.folder(name);
        let plan = folder.read_plan()?.ok_or_else(|| LabError::NoLab(name.clone()))?;
        Ok((folder, plan))
    }
}

/// Changes both directions of the link at `index` of `plan`, and cuts or restores it.
pub(crate) fn edit_link(
    folder: &Folder,
    plan: &mut Plan,
    index: usize,
    directions: [Change; 2],
    up: Option<bool>,
) -> Result<(), LabError> {
    if directions != [Change::default(); 2] {
        change(folder, plan, index, directions)?;
    }
    up.map_or(Ok(()), |up| set_up(plan, index, up))
}

/// The index of a link in the plan, and whether it was named from its second end.
pub(super) fn find(plan: &Plan, which: &WhichLink) -> Result<(usize, bool), LabError> {
    let links = plan.links.iter().enumerate();
    let found: Vec<_> = links.filter_map(|(index, it)| Some((index, joins(it, which)?))).collect();
    let wanted = which.nth.unwrap_or(1).checked_sub(1).and_then(|nth| found.get(nth));
    match wanted {
        Some(_) if found.len() > 1 && which.nth.is_none() => {
            let links = found.iter().filter_map(|(index, _)| plan.links.get(*index)).map(by_ports).collect();
            Err(LabError::ManyLinks { from: which.from.clone(), to: which.to.clone(), links })
        }
        Some(found) => Ok(*found),
        None => Err(LabError::NoLink {
            lab: plan.lab.clone(),
            link: match which.nth.filter(|_| !found.is_empty()) {
                Some(nth) => format!("{} - {} number {nth}", which.from, which.to),
                None => format!("{} - {}", which.from, which.to),
            },
            links: plan.links.iter().map(title).collect(),
        }),
    }
}

fn joins(link: &LinkPlan, which: &WhichLink) -> Option<bool> {
    let [a, b] = &link.ends;
    let straight = is_end(a, &which.from) && is_end(b, &which.to);
    let reversed = is_end(a, &which.to) && is_end(b, &which.from);
    (straight || reversed).then_some(!straight)
}

fn is_end(end: &LinkPlanEnd, wanted: &str) -> bool {
    match (wanted.rsplit_once(':'), end.port) {
        (Some((name, number)), Some((_, port))) => name == end.name && number == port.to_string(),
        _ => end.name == wanted || end.name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.')),
    }
}

/// The unique name of a link by its ports.
fn by_ports(link: &LinkPlan) -> String {
    let [a, b] = link.ends.each_ref().map(|end| match end.port {
        Some((_, port)) => format!("{}:{port}", end.name),
        None => end.name.clone(),
    });
    format!("{a} - {b}")
}

pub(super) fn title(link: &LinkPlan) -> String {
    let [a, b] = &link.ends;
    format!("{} - {}", a.name, b.name)
}

fn change(folder: &Folder, plan: &mut Plan, index: usize, directions: [Change; 2]) -> Result<(), LabError> {
    let Some(link) = plan.links.get(index) else { return Ok(()) };
    if link.backend == LinkBackend::UserSpace {
        let link = plan.user_space().find(|(_, place, _)| *place == index).map_or(0, |(number, ..)| number);
        return connect(folder)?.change(Order { link, directions }).map(drop).map_err(refused);
    }
    let (namespaces, commands) = reshape(plan, index, directions)?;
    for (namespace, commands) in namespaces.iter().zip(commands) {
        let tool = Tool::unmarked("tc").args(["-batch", "-"]).input(commands);
        tool.within(&Namespace::named(namespace)).run()?;
    }
    folder.write_plan(plan)
}

/// Changes the plan of a kernel link. Returns the namespaces of its ends and the `tc` commands for each.
fn reshape(
    plan: &mut Plan,
    index: usize,
    directions: [Change; 2],
) -> Result<([String; 2], [String; 2]), LabError> {
    let link = &mut plan.links[index];
    for (direction, change) in link.directions.iter_mut().zip(&directions) {
        let new = direction.with(change);
        new.check().map_err(LabError::Parameters)?;
        *direction = new;
    }
    let jitter = link.directions.iter().any(|direction| !direction.jitter.duration().is_zero());
    let shaped = directions
        .iter()
        .all(|change| *change == Change { rate: change.rate, queue: change.queue, ..Change::default() });
    let possible = if link.backend == LinkBackend::Netem { !jitter } else { shaped };
    if !possible {
        return Err(LabError::FixedLink { link: title(link), backend: link.backend });
    }
    Ok(([0, 1].map(|side| link.sender(side).0.to_owned()), [0, 1].map(|side| shaper(link, side))))
}

fn refused(error: ControlError) -> LabError {
    match error {
        ControlError::Refused(why) => LabError::Refused(why),
        other => other.into(),
    }
}

/// Cuts or restores a link: both ends lose or regain their carrier.
fn set_up(plan: &Plan, index: usize, up: bool) -> Result<(), LabError> {
    let (namespace, devices) = cut_points(plan, index);
    let state = if up { "up" } else { "down" };
    let text: String = devices.iter().map(|device| format!("link set {device} {state}\n")).collect();
    Tool::unmarked("ip").args(["-batch", "-"]).input(text).within(&namespace).run().map(drop)
}
