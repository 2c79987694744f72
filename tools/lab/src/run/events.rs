//! Scheduled events of links and controllers during a transfer, reverted at its end.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_link_model::{Change, Parameters};

use super::report::EventRow;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::links::edit_link;
use crate::plan::{LinkBackend, LinkPlan};
use crate::scenario::{Action, ControllerAction, Event, LinkAction, Topology};

/// The events of a transfer.
pub(super) struct Schedule<'a> {
    lab: &'a Deployment,
    to_come: std::slice::Iter<'a, Event>,
    past: Vec<Past<'a>>,
    /// The affected links, and whether their parameters were changed.
    touched: BTreeMap<usize, bool>,
}

/// An event that has happened.
struct Past<'a> {
    at: Duration,
    action: &'a Action,
    /// The member of the cluster, if it was about one.
    member: Option<String>,
}

impl<'a> Schedule<'a> {
    /// `events` have to be in order of time.
    pub(super) fn new(lab: &'a Deployment, events: &'a [Event]) -> Self {
        Self { lab, to_come: events.iter(), past: Vec::new(), touched: BTreeMap::new() }
    }

    /// Executes the events due at this time after the start. One about a leader waits while there is none.
    pub(super) fn act(&mut self, elapsed: Duration) -> Result<(), LabError> {
        while let Some(event) = self.to_come.as_slice().first().filter(|event| event.at <= elapsed) {
            let member = match &event.action {
                Action::Link { link, change } => {
                    self.change(*link, change)?;
                    None
                }
                Action::Controller { role, change } => {
                    let Some(cluster) = &self.lab.cluster else { return Ok(()) };
                    let Some(member) = cluster.act(*role, *change)? else { return Ok(()) };
                    Some(member)
                }
            };
            self.to_come.next();
            self.past.push(Past { at: elapsed, action: &event.action, member });
        }
        Ok(())
    }

    fn change(&mut self, link: usize, change: &LinkAction) -> Result<(), LabError> {
        let (directions, up) = match change {
            LinkAction::Cut => (<[Change; 2]>::default(), Some(false)),
            LinkAction::Restore => (<[Change; 2]>::default(), Some(true)),
            LinkAction::Set(directions) => (**directions, None),
        };
        *self.touched.entry(link).or_default() |= up.is_none();
        self.edit(link, directions, up)
    }

    /// What has happened so far.
    pub(super) fn rows(&self, topology: &Topology) -> Vec<EventRow> {
        let row = |past: &Past<'_>| {
            let (link, action) = match past.action {
                Action::Link { link, change } => {
                    (Some(topology.links.get(*link)?.ends.map(|end| topology.end_name(end))), verb(change))
                }
                Action::Controller { change, .. } => (None, verb_of_controller(*change)),
            };
            let (at, controller) = (past.at.as_secs_f64(), past.member.clone());
            Some(EventRow { at, link, controller, action: action.to_owned() })
        };
        self.past.iter().filter_map(row).collect()
    }

    /// Restores links and controllers.
    pub(super) fn undo(self) -> Result<(), LabError> {
        for (link, changed) in &self.touched {
            let plan = self.lab.deployed.plan.links.get(*link).filter(|_| *changed);
            self.edit(*link, plan.map(original).unwrap_or_default(), Some(true))?;
        }
        self.lab.cluster.iter().try_for_each(|cluster| cluster.restore(&self.lab.deployed))
    }

    // The lab's folder has the current parameters of links, the deployment the original ones.
    fn edit(&self, link: usize, directions: [Change; 2], up: Option<bool>) -> Result<(), LabError> {
        let folder = &self.lab.deployed.folder;
        let mut plan = folder.read_plan()?.ok_or_else(|| LabError::NoLab(self.lab.name().clone()))?;
        edit_link(folder, &mut plan, link, directions, up)
    }
}

const fn verb(change: &LinkAction) -> &'static str {
    match change {
        LinkAction::Cut => "cut",
        LinkAction::Restore => "restore",
        LinkAction::Set(_) => "set",
    }
}

const fn verb_of_controller(change: ControllerAction) -> &'static str {
    match change {
        ControllerAction::Kill => "kill",
        ControllerAction::Stop => "stop",
        ControllerAction::HandOver => "hand-over",
    }
}

/// The change that restores a link, as far as its back-end can change.
fn original(link: &LinkPlan) -> [Change; 2] {
    link.directions.map(|direction| {
        let Parameters { rate, queue, delay, jitter, distribution, loss, loss_burst, reorder } = direction;
        let shape = Change { rate, queue: Some(queue), ..Change::default() };
        match link.backend {
            LinkBackend::Tbf => shape,
            LinkBackend::Netem | LinkBackend::UserSpace => Change {
                delay: Some(delay),
                jitter: Some(jitter),
                distribution: Some(distribution),
                loss: Some(loss),
                loss_burst: Some(loss_burst),
                reorder: Some(reorder),
                ..shape
            },
        }
    })
}
