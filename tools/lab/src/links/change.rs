//! Changes of a lab's links while traffic runs: parameters, cuts and repairs.

use braid_link::{Change as Order, ControlError};
use braid_link_model::Change;

use super::connect;
use super::view::{LinkInspection, cut_points, inspect};
use crate::error::LabError;
use crate::folder::Folder;
use crate::names::LabName;
use crate::plan::{Cable, CableEnd, LinkBackend, Plan, shaper};
use crate::store::Labs;
use crate::system::{Namespace, Tool};

/// A link of a lab, by what it joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhichLink {
    /// A switch, with or without `:` and the number of its port, or a host, with or without its interface.
    pub from: String,
    /// The same, of the other end.
    pub to: String,
    /// Which of several between the two, from 1.
    pub nth: Option<usize>,
}

/// What is done to a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkEdit {
    /// What changes from [`WhichLink::from`] to [`WhichLink::to`], and back.
    pub ways: [Change; 2],
    /// Whether it is restored, or cut.
    pub up: Option<bool>,
}

impl Labs {
    /// The links of the lab `name` as they are now.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], or [`LabError::LinkProcess`] if the links in user space have ended.
    pub fn links(&self, name: &LabName) -> Result<Vec<LinkInspection>, LabError> {
        let (folder, plan) = self.open(name)?;
        let (links, problem) = inspect(&folder, &plan)?;
        problem.map_or(Ok(links), Err)
    }

    /// Changes a link of the lab `name` while traffic runs; what the edit does not name stays. The link as it is then.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], [`LabError::NoLink`], [`LabError::ManyLinks`], [`LabError::FixedLink`] if the back-end
    /// cannot do it, [`LabError::Parameters`] if no link can be like that, or what failed.
    pub fn change_link(
        &self,
        name: &LabName,
        which: &WhichLink,
        edit: &LinkEdit,
    ) -> Result<LinkInspection, LabError> {
        let (folder, mut plan) = self.open(name)?;
        let (index, reversed) = find(&plan, which)?;
        let [there, back] = edit.ways;
        let ways = if reversed { [back, there] } else { [there, back] };
        edit_link(&folder, &mut plan, index, ways, edit.up)?;
        let (mut links, problem) = inspect(&folder, &plan)?;
        problem.map_or_else(|| Ok(links.swap_remove(index)), Err)
    }

    fn open(&self, name: &LabName) -> Result<(Folder, Plan), LabError> {
        let folder = self.folder(name);
        let plan = folder.read_plan()?.ok_or_else(|| LabError::NoLab(name.clone()))?;
        Ok((folder, plan))
    }
}

/// Changes the link in its place in `plan`, from its first end to its second and back, and cuts or restores it.
pub(crate) fn edit_link(
    folder: &Folder,
    plan: &mut Plan,
    index: usize,
    ways: [Change; 2],
    up: Option<bool>,
) -> Result<(), LabError> {
    if ways != [Change::default(); 2] {
        change(folder, plan, index, ways)?;
    }
    up.map_or(Ok(()), |up| set_up(plan, index, up))
}

/// The place of a link in the plan, and whether it was named from its second end.
fn find(plan: &Plan, which: &WhichLink) -> Result<(usize, bool), LabError> {
    let cables = plan.cables.iter().enumerate();
    let found: Vec<_> = cables.filter_map(|(index, it)| Some((index, joins(it, which)?))).collect();
    let wanted = which.nth.unwrap_or(1).checked_sub(1).and_then(|nth| found.get(nth));
    match wanted {
        Some(_) if found.len() > 1 && which.nth.is_none() => {
            let links = found.iter().filter_map(|(index, _)| plan.cables.get(*index)).map(by_ports).collect();
            Err(LabError::ManyLinks { from: which.from.clone(), to: which.to.clone(), links })
        }
        Some(found) => Ok(*found),
        None => Err(LabError::NoLink {
            lab: plan.lab.clone(),
            link: match which.nth.filter(|_| !found.is_empty()) {
                Some(nth) => format!("{} - {} number {nth}", which.from, which.to),
                None => format!("{} - {}", which.from, which.to),
            },
            links: plan.cables.iter().map(title).collect(),
        }),
    }
}

fn joins(cable: &Cable, which: &WhichLink) -> Option<bool> {
    let [a, b] = &cable.ends;
    let straight = is_end(a, &which.from) && is_end(b, &which.to);
    let reversed = is_end(a, &which.to) && is_end(b, &which.from);
    (straight || reversed).then_some(!straight)
}

fn is_end(end: &CableEnd, wanted: &str) -> bool {
    match (wanted.rsplit_once(':'), end.port) {
        (Some((name, number)), Some((_, port))) => name == end.name && number == port.to_string(),
        _ => end.name == wanted || end.name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.')),
    }
}

/// By the ports of its ends, of which it has two of its own.
fn by_ports(cable: &Cable) -> String {
    let [a, b] = cable.ends.each_ref().map(|end| match end.port {
        Some((_, port)) => format!("{}:{port}", end.name),
        None => end.name.clone(),
    });
    format!("{a} - {b}")
}

fn title(cable: &Cable) -> String {
    let [a, b] = &cable.ends;
    format!("{} - {}", a.name, b.name)
}

fn change(folder: &Folder, plan: &mut Plan, index: usize, ways: [Change; 2]) -> Result<(), LabError> {
    let Some(cable) = plan.cables.get(index) else { return Ok(()) };
    if cable.backend == LinkBackend::UserSpace {
        let link = plan.user_space().find(|(_, place, _)| *place == index).map_or(0, |(number, ..)| number);
        return connect(folder)?.change(Order { link, ways }).map(drop).map_err(refused);
    }
    let (namespaces, commands) = reshape(plan, index, ways)?;
    for (namespace, commands) in namespaces.iter().zip(commands) {
        let tool = Tool::unmarked("tc").args(["-batch", "-"]).input(commands);
        tool.within(&Namespace::named(namespace)).run()?;
    }
    folder.write_plan(plan)
}

/// Changes the plan of a link that the kernel makes; the namespaces of its ends, and what `tc` has to do there.
fn reshape(plan: &mut Plan, index: usize, ways: [Change; 2]) -> Result<([String; 2], [String; 2]), LabError> {
    let cable = &mut plan.cables[index];
    for (way, change) in cable.ways.iter_mut().zip(&ways) {
        let new = way.with(change);
        new.check().map_err(LabError::Parameters)?;
        *way = new;
    }
    let jitter = cable.ways.iter().any(|way| !way.jitter.duration().is_zero());
    let shaped = ways
        .iter()
        .all(|change| *change == Change { rate: change.rate, queue: change.queue, ..Change::default() });
    let possible = if cable.backend == LinkBackend::Netem { !jitter } else { shaped };
    if !possible {
        return Err(LabError::FixedLink { link: title(cable), backend: cable.backend });
    }
    Ok((cable.ends.each_ref().map(|end| end.namespace.clone()), [0, 1].map(|side| shaper(cable, side))))
}

fn refused(error: ControlError) -> LabError {
    match error {
        ControlError::Refused(why) => LabError::Refused(why),
        other => other.into(),
    }
}

/// Cuts or restores a link: both of its ends lose their carrier, or get it back.
fn set_up(plan: &Plan, index: usize, up: bool) -> Result<(), LabError> {
    let (namespace, devices) = cut_points(plan, index);
    let state = if up { "up" } else { "down" };
    let text: String = devices.iter().map(|device| format!("link set {device} {state}\n")).collect();
    Tool::unmarked("ip").args(["-batch", "-"]).input(text).within(&namespace).run().map(drop)
}
