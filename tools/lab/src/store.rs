//! The labs of this machine: their names, and how links are made.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::error::LabError;
use crate::folder::Folder;
use crate::links::LinkProcess;
use crate::names::LabName;

/// The labs of this machine, with a folder each below a common one.
///
/// Namespaces belong to the machine, not to a login, so the folder is the same for every session: `/run/braid/lab`, or
/// the value of `BRAID_LAB_DIR`.
#[derive(Clone, Debug)]
pub struct Labs {
    root: PathBuf,
    links: Option<LinkProcess>,
    netem: bool,
}

impl Labs {
    /// The labs of the machine.
    ///
    /// With `BRAID_LAB_LINKS=user-space`, links with delay use the link emulator even if the kernel has netem.
    pub fn system() -> Self {
        let root = std::env::var_os("BRAID_LAB_DIR").map(PathBuf::from);
        let labs = Self::at(root.unwrap_or_else(|| PathBuf::from("/run/braid/lab")));
        let user_space = std::env::var_os("BRAID_LAB_LINKS").is_some_and(|it| it == "user-space");
        if user_space { labs.without_netem() } else { labs }
    }

    /// Labs with folders below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), links: None, netem: true }
    }

    /// Uses `process` as the link process instead of `braid lab link serve`.
    pub fn with_link_process(self, process: LinkProcess) -> Self {
        Self { links: Some(process), ..self }
    }

    /// Always emulates links with delay in user space.
    pub fn without_netem(self) -> Self {
        Self { netem: false, ..self }
    }

    pub(crate) fn may_use_netem(&self) -> bool {
        self.netem
    }

    pub(crate) fn link_process(&self) -> Result<LinkProcess, LabError> {
        let this = || {
            let program = std::env::current_exe();
            let program = program.map_err(|error| LabError::io("the path of this program", error))?;
            Ok(LinkProcess { program, args: ["lab", "link", "serve"].map(Into::into).to_vec() })
        };
        self.links.clone().map_or_else(this, Ok)
    }

    /// The sorted names of all labs, including incomplete ones.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`] if the folder exists and cannot be read.
    pub fn names(&self) -> Result<Vec<LabName>, LabError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(LabError::file(&self.root, error)),
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut names: Vec<_> = names.collect();
        names.sort();
        Ok(names)
    }

    pub(crate) fn folder(&self, name: &LabName) -> Folder {
        Folder { path: self.root.join(name.as_str()), name: name.clone() }
    }
}
