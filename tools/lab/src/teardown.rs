//! Removal of a lab by its journal.

use std::time::Duration;

use crate::error::LabError;
use crate::folder::{Folder, Lock};
use crate::interrupt::Interrupt;
use crate::journal::{Entry, Journal};
use crate::names::LabName;
use crate::store::Labs;
use crate::system::{Namespace, Tool, kill_all};

const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Counts of removed objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Removed {
    /// Killed processes.
    pub processes: usize,
    /// Removed network namespaces.
    pub namespaces: usize,
}

impl Labs {
    /// Removes lab `name`: exactly the objects in its journal. The scenario is not needed.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], [`LabError::Busy`] while a process deploys or runs it, or the failed removal, which can be tried
    /// again.
    pub fn destroy(&self, name: &LabName) -> Result<Removed, LabError> {
        let folder = self.folder(name);
        if !folder.exists() {
            return Err(LabError::NoLab(name.clone()));
        }
        let _lock = patient_lock(&folder)?;
        teardown(&folder)
    }
}

// A forked child of a killed process may hold the lock until it calls exec.
pub(crate) fn patient_lock(folder: &Folder) -> Result<Lock, LabError> {
    let try_lock = || match folder.lock() {
        Err(LabError::Busy(_)) => Ok(None),
        other => other.map(Some),
    };
    let lock = Interrupt::default().poll(LOCK_TIMEOUT, try_lock)?;
    lock.ok_or_else(|| LabError::Busy(folder.name.clone()))
}

/// Removes all objects of the journal, then the journal. The caller holds the lock.
pub(crate) fn teardown(folder: &Folder) -> Result<Removed, LabError> {
    let entries = Journal::read(&folder.journal())?;
    let mut removed = Removed::default();
    for entry in &entries {
        if let Entry::Marker(marker) = entry {
            removed.processes += kill_all(marker)?;
        }
    }
    removed.namespaces = remove_namespaces(&entries)?;
    folder.remove()?;
    Ok(removed)
}

fn remove_namespaces(entries: &[Entry]) -> Result<usize, LabError> {
    let names: Vec<_> = entries.iter().filter_map(existing_namespace).collect();
    if !names.is_empty() {
        let text = names.iter().fold(String::new(), |text, name| text + "netns del " + name + "\n");
        Tool::unmarked("ip").args(["-batch", "-"]).input(text).run()?;
    }
    Ok(names.len())
}

fn existing_namespace(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Namespace(name) if Namespace::named(name).exists() => Some(name),
        _ => None,
    }
}
