//! A deployed lab: its folder, its plan, and the mark of its processes.

use crate::folder::Folder;
use crate::names::LabName;
use crate::plan::Plan;
use crate::system::{Marker, Namespace, Tool};

/// The handles of a lab's parts, for all that start or ask something in it.
#[derive(Debug)]
pub(crate) struct Deployed {
    pub folder: Folder,
    pub plan: Plan,
    pub marker: Marker,
}

impl Deployed {
    /// Its name.
    pub(crate) fn name(&self) -> &LabName {
        &self.plan.lab
    }

    /// A program of the lab, which goes with it.
    pub(crate) fn tool(&self, program: &str) -> Tool {
        Tool::new(program, &self.marker)
    }

    /// The namespace of the switches.
    pub(crate) fn fabric(&self) -> Namespace {
        Namespace::named(&self.plan.fabric)
    }
}
