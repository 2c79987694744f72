//! The folder of a lab, with its lock and the files in it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::LabError;
use crate::names::LabName;
use crate::plan::Plan;

/// The folder of one lab.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub path: PathBuf,
    pub name: LabName,
}

/// The lock of a process that makes, runs or removes a lab; the kernel releases it when the process ends.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    /// Unlocks at once. Closing is not enough: a forked child holds a copy of the descriptor until it calls exec.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Folder {
    /// Creates the folder; of two deployments with one name, one fails.
    pub(crate) fn create(&self) -> Result<Lock, LabError> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(|error| LabError::file(parent, error))?;
        fs::create_dir(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => LabError::Exists(self.name.clone()),
            _ => LabError::file(&self.path, error),
        })?;
        self.lock()
    }

    /// Creates its subfolders.
    pub(crate) fn furnish(&self) -> Result<(), LabError> {
        let make = |folder: PathBuf| fs::create_dir(&folder).map_err(|error| LabError::file(&folder, error));
        [self.ovs(), self.log()].into_iter().try_for_each(make)
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.is_dir()
    }

    pub(crate) fn lock(&self) -> Result<Lock, LabError> {
        let (path, file) = self.lock_file("lock")?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(LabError::Busy(self.name.clone())),
            Err(TryLockError::Error(error)) => Err(LabError::file(&path, error)),
        }
    }

    /// The lock of whoever reads the plan to write it changed; it is held for a moment, and waited for.
    pub(crate) fn plan_lock(&self) -> Result<Lock, LabError> {
        let (path, file) = self.lock_file("plan.lock")?;
        file.lock().map_err(|error| LabError::file(&path, error))?;
        Ok(Lock(file))
    }

    fn lock_file(&self, name: &str) -> Result<(PathBuf, File), LabError> {
        let path = self.path.join(name);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|error| LabError::file(&path, error))?;
        Ok((path, file))
    }

    pub(crate) fn remove(&self) -> Result<(), LabError> {
        fs::remove_dir_all(&self.path).map_err(|error| LabError::file(&self.path, error))
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Open vSwitch's database, sockets and process numbers.
    pub(crate) fn ovs(&self) -> PathBuf {
        self.path.join("ovs")
    }

    /// The network file for the controller.
    pub(crate) fn network(&self) -> PathBuf {
        self.path.join("network.json")
    }

    /// The certificates of a lab with TLS.
    pub(crate) fn certificates(&self) -> PathBuf {
        self.path.join("tls")
    }

    /// The keys, files and sockets of sites.
    pub(crate) fn sites(&self) -> PathBuf {
        self.path.join("sites")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(crate) fn database_socket(&self) -> PathBuf {
        self.ovs().join("db.sock")
    }

    /// The socket of a switch for `ovs-ofctl`.
    pub(crate) fn management_socket(&self, switch: &str) -> PathBuf {
        self.ovs().join(format!("{switch}.mgmt"))
    }

    /// The control socket of the link process.
    pub(crate) fn links_socket(&self) -> PathBuf {
        self.path.join("links.sock")
    }

    pub(crate) fn write_plan(&self, plan: &Plan) -> Result<(), LabError> {
        self.write("plan.json", plan)
    }

    /// `None` before it is written.
    pub(crate) fn read_plan(&self) -> Result<Option<Plan>, LabError> {
        self.read("plan.json")
    }

    /// Saves the addresses of the controller.
    pub(crate) fn write_controller(&self, addresses: &impl Serialize) -> Result<(), LabError> {
        self.write("controller.json", addresses)
    }

    /// `None` for a lab without a controller.
    pub(crate) fn read_controller<T: DeserializeOwned>(&self) -> Result<Option<T>, LabError> {
        self.read("controller.json")
    }

    fn write(&self, file: &str, value: &impl Serialize) -> Result<(), LabError> {
        let path = self.path.join(file);
        let text = serde_json::to_vec_pretty(value).map_err(|error| LabError::file(&path, error.into()))?;
        // Concurrent readers see the old file.
        let fresh = self.path.join(format!("{file}.new"));
        let written = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &path));
        written.map_err(|error| LabError::file(&path, error))
    }

    fn read<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, LabError> {
        let path = self.path.join(file);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LabError::file(&path, error)),
        };
        let value = serde_json::from_slice(&text);
        value.map(Some).map_err(|error| LabError::State { path, why: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_changes_the_plan_waits_for_others_and_a_lab_in_use_does_not_matter() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder { path: parent.path().join("lab"), name: "lab".parse().unwrap() };
        let _in_use = folder.create().unwrap();
        let first = folder.plan_lock().unwrap();
        let second = thread::spawn({
            let folder = folder.clone();
            move || folder.plan_lock().map(drop)
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!second.is_finished());
        drop(first);
        second.join().unwrap().unwrap();
    }
}
