//! Scheduled link events during a transfer, reverted at its end.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_link_model::{Change, Parameters};

use super::report::EventRow;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::links::edit_link;
use crate::plan::{LinkBackend, LinkPlan};
use crate::scenario::{Event, LinkAction, Topology};

/// The link events of a transfer.
pub(super) struct Schedule<'a> {
    lab: &'a Deployment,
    to_come: std::slice::Iter<'a, Event>,
    past: Vec<(Duration, &'a Event)>,
    /// The affected links, and whether their parameters were changed.
    touched: BTreeMap<usize, bool>,
}

impl<'a> Schedule<'a> {
    /// `events` have to be in order of time.
    pub(super) fn new(lab: &'a Deployment, events: &'a [Event]) -> Self {
        Self { lab, to_come: events.iter(), past: Vec::new(), touched: BTreeMap::new() }
    }

    /// Executes the events due at this time after the start.
    pub(super) fn act(&mut self, elapsed: Duration) -> Result<(), LabError> {
        while let Some(event) = self.to_come.as_slice().first().filter(|event| event.at <= elapsed) {
            self.to_come.next();
            let (directions, up) = match &event.action {
                LinkAction::Cut => (<[Change; 2]>::default(), Some(false)),
                LinkAction::Restore => (<[Change; 2]>::default(), Some(true)),
                LinkAction::Set(directions) => (**directions, None),
            };
            *self.touched.entry(event.link).or_default() |= up.is_none();
            self.edit(event.link, directions, up)?;
            self.past.push((elapsed, event));
        }
        Ok(())
    }

    /// What has happened so far.
    pub(super) fn rows(&self, topology: &Topology) -> Vec<EventRow> {
        let row = |(at, event): &(Duration, &Event)| {
            let ends = topology.links.get(event.link)?.ends.map(|end| topology.end_name(end));
            let action = match event.action {
                LinkAction::Cut => "cut",
                LinkAction::Restore => "restore",
                LinkAction::Set(_) => "set",
            };
            Some(EventRow { at: at.as_secs_f64(), link: ends, action: action.to_owned() })
        };
        self.past.iter().filter_map(row).collect()
    }

    /// Restores the links.
    pub(super) fn undo(self) -> Result<(), LabError> {
        for (link, changed) in &self.touched {
            let plan = self.lab.deployed.plan.links.get(*link).filter(|_| *changed);
            self.edit(*link, plan.map(original).unwrap_or_default(), Some(true))?;
        }
        Ok(())
    }

    // The lab's folder has the current parameters of links, the deployment the original ones.
    fn edit(&self, link: usize, directions: [Change; 2], up: Option<bool>) -> Result<(), LabError> {
        let folder = &self.lab.deployed.folder;
        let mut plan = folder.read_plan()?.ok_or_else(|| LabError::NoLab(self.lab.name().clone()))?;
        edit_link(folder, &mut plan, link, directions, up)
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
