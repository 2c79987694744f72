//! Scheduled link events during a transfer, undone at its end.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_link_model::{Change, Parameters};

use crate::deploy::Deployment;
use crate::error::LabError;
use crate::links::edit_link;
use crate::plan::{Cable, LinkBackend};
use crate::scenario::{Event, LinkAction};

/// What happens to links while a transfer runs.
pub(super) struct Schedule<'a> {
    lab: &'a Deployment,
    to_come: std::slice::Iter<'a, Event>,
    /// The links that something has happened to, and whether they were changed, not only cut.
    touched: BTreeMap<usize, bool>,
}

impl<'a> Schedule<'a> {
    /// `events` are in the order of time.
    pub(super) fn new(lab: &'a Deployment, events: &'a [Event]) -> Self {
        Self { lab, to_come: events.iter(), touched: BTreeMap::new() }
    }

    /// Does what is due so long after the start.
    pub(super) fn act(&mut self, elapsed: Duration) -> Result<(), LabError> {
        while let Some(event) = self.to_come.as_slice().first().filter(|event| event.at <= elapsed) {
            self.to_come.next();
            let (ways, up) = match &event.action {
                LinkAction::Cut => (<[Change; 2]>::default(), Some(false)),
                LinkAction::Restore => (<[Change; 2]>::default(), Some(true)),
                LinkAction::Set(ways) => (**ways, None),
            };
            *self.touched.entry(event.link).or_default() |= up.is_none();
            self.edit(event.link, ways, up)?;
        }
        Ok(())
    }

    /// Makes the links what they were.
    pub(super) fn undo(self) -> Result<(), LabError> {
        for (link, changed) in &self.touched {
            let cable = self.lab.deployed.plan.cables.get(*link).filter(|_| *changed);
            self.edit(*link, cable.map(original).unwrap_or_default(), Some(true))?;
        }
        Ok(())
    }

    // The lab's folder has what links are like now, the deployment what they were like at first.
    fn edit(&self, link: usize, ways: [Change; 2], up: Option<bool>) -> Result<(), LabError> {
        let folder = &self.lab.deployed.folder;
        let mut plan = folder.read_plan()?.ok_or_else(|| LabError::NoLab(self.lab.name().clone()))?;
        edit_link(folder, &mut plan, link, ways, up)
    }
}

/// What makes a cable again what it was, as far as its back-end can change it.
fn original(cable: &Cable) -> [Change; 2] {
    cable.ways.map(|way| {
        let Parameters { rate, queue, delay, jitter, distribution, loss, loss_burst, reorder } = way;
        let shape = Change { rate, queue: Some(queue), ..Change::default() };
        match cable.backend {
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
