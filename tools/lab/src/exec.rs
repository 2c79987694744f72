//! Commands run inside a lab, on a host or beside the switches.

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::error::LabError;
use crate::journal::{Entry, Journal};
use crate::names::LabName;
use crate::store::Labs;
use crate::system::{Marker, Namespace, search_path};

/// The place in a lab where a command runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place<'a> {
    /// On a host.
    Host(&'a str),
    /// Beside the switches, in the fabric's namespace.
    Fabric,
}

impl Labs {
    /// Replaces the calling process with `program` inside a lab, which so has its terminal and exit status.
    ///
    /// Only the network namespace differs from the caller's. The command ends when the lab is removed.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], [`LabError::NoHost`], or the program does not start; the calling thread may then be in the lab's
    /// namespace and should end.
    pub fn exec(
        &self,
        name: &LabName,
        place: Place<'_>,
        program: &OsString,
        args: &[OsString],
    ) -> Result<Infallible, LabError> {
        let (namespace, marker) = self.find(name, place)?;
        namespace.enter()?;
        let mut command = Command::new(program);
        command.args(args).env("PATH", search_path()).env(Marker::VARIABLE, marker.value());
        // With it ovs-vsctl and ovs-ofctl find the lab's switches by name.
        command.env("OVS_RUNDIR", self.folder(name).ovs());
        Err(LabError::io(program.to_string_lossy(), command.exec()))
    }

    fn find(&self, name: &LabName, place: Place<'_>) -> Result<(Namespace, Marker), LabError> {
        let folder = self.folder(name);
        let markers = Journal::read(&folder.journal())?.into_iter();
        let marker = markers.into_iter().find_map(|entry| match entry {
            Entry::Marker(marker) => Some(marker),
            Entry::Namespace(_) => None,
        });
        let (Some(plan), Some(marker)) = (folder.read_plan()?, marker) else {
            return Err(LabError::NoLab(name.clone()));
        };
        let namespace = match place {
            Place::Fabric => Some(&plan.fabric),
            Place::Host(host) => plan.host(host).map(|host| &host.namespace),
        };
        match (namespace, place) {
            (None, Place::Host(host)) => Err(LabError::NoHost {
                lab: name.clone(),
                host: host.to_owned(),
                hosts: plan.hosts.iter().map(|host| host.name.clone()).collect(),
            }),
            (namespace, _) => Ok((Namespace::named(namespace.unwrap_or(&plan.fabric)), marker)),
        }
    }
}
