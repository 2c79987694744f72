//! Which certificate may claim which datapath id: from a file, by name, or by first use.

mod file;
mod tables;

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use braid_control::Threat;
use braid_types::DatapathId;
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use tables::{Tables, is_plain};

/// The names of certificates that may claim each datapath id.
#[derive(Debug, Default)]
pub struct SwitchIdentities {
    listed: Option<PathBuf>,
    pinned: Option<PathBuf>,
    tables: RwLock<Tables>,
}

/// Whose a datapath id is by first use, or by the certificate's own name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) dpid: DatapathId,
    pub(crate) certificate: String,
}

/// Errors of identity files.
#[derive(Debug, thiserror::Error)]
pub enum IdentityFileError {
    /// The file cannot be read.
    #[error("cannot read the identities of switches from {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file has invalid content.
    #[error("{}: {reason}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The error with its place.
        reason: String,
    },
}

/// The reason for which a switch may not have a datapath id.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("datapath id {dpid} refused: {why}")]
pub(crate) struct ClaimError {
    dpid: DatapathId,
    why: String,
}

impl ClaimError {
    /// A connection without a certificate, where every switch needs one.
    pub(super) fn without_certificate(dpid: DatapathId) -> Self {
        Self { dpid, why: "the switch has shown no certificate: connect to ssl:".to_owned() }
    }

    pub(crate) fn threat(&self) -> Threat {
        Threat::ForeignDatapathId { dpid: self.dpid, why: self.why.clone() }
    }
}

impl SwitchIdentities {
    /// Reads `listed`, a TOML file with `[[switch]]`: `certificate`, a name, and `datapath_ids`, what it may claim; and
    /// `pinned`, a file of the same form that first use appends to. Without `pinned`, first use decides nothing.
    ///
    /// # Errors
    ///
    /// A file has invalid content, or cannot be read; `pinned` need not exist.
    pub fn read(listed: Option<PathBuf>, pinned: Option<PathBuf>) -> Result<Self, IdentityFileError> {
        let identities = Self { listed, pinned, tables: RwLock::default() };
        identities.reload()?;
        Ok(identities)
    }

    pub(super) fn reload(&self) -> Result<(), IdentityFileError> {
        let (listed, denied) = self.listed.as_deref().map(file::read).transpose()?.unwrap_or_default();
        let mut tables = self.write();
        let pinned = match self.pinned.as_deref().map(file::read).transpose() {
            // Before the first pin there is no file. Later, a file that is lost does not free what it gave away.
            Err(IdentityFileError::Read { source, .. })
                if source.kind() == ErrorKind::NotFound && tables.pinned.is_empty() =>
            {
                None
            }
            read => read?,
        };
        tables.listed = listed;
        tables.denied = denied;
        tables.pinned = pinned.map(|(pinned, _)| pinned).unwrap_or_default();
        Ok(())
    }

    /// Whether a certificate with these names may claim a datapath id, which [`Self::note_joined`] makes its own.
    pub(super) fn check(&self, names: &[String], dpid: DatapathId) -> Result<(), ClaimError> {
        self.tables().check(names, dpid, self.pinned.is_some())
    }

    /// Whether a connection without a certificate may claim a datapath id: one that nobody else has proven.
    pub(super) fn check_without_certificate(&self, dpid: DatapathId) -> Result<(), ClaimError> {
        self.tables().check_without_certificate(dpid)
    }

    /// A switch has joined with a certificate of these names: the id is its own from now on.
    ///
    /// # Errors
    ///
    /// It became another's in the meantime; or first use should pin it, and the file cannot be written.
    pub(super) fn note_joined(&self, names: &[String], dpid: DatapathId) -> Result<(), ClaimError> {
        let mut tables = self.write();
        tables.check(names, dpid, self.pinned.is_some())?;
        if tables.listed.contains_key(&dpid) {
            return Ok(());
        }
        if names.contains(&dpid.to_string()) {
            tables.proven.insert(dpid);
        }
        match names.iter().find(|name| is_plain(name)) {
            Some(name) => self.pin(&mut tables, name, dpid),
            None => Ok(()),
        }
    }

    /// Whose the ids are that are in no list.
    pub(crate) fn owners(&self) -> BTreeSet<Owner> {
        let tables = self.tables();
        let of = |dpid: &DatapathId, name: &str| Owner { dpid: *dpid, certificate: name.to_owned() };
        let pinned = tables.pinned.iter().flat_map(|(dpid, names)| names.iter().map(|name| of(dpid, name)));
        pinned.chain(tables.proven.iter().map(|dpid| of(dpid, &dpid.to_string()))).collect()
    }

    /// Learns whose an id is from another controller of the cluster. One that is somebody's here stays so. Returns whether that
    /// was news.
    pub(super) fn learn(&self, Owner { dpid, certificate }: &Owner) -> bool {
        let mut tables = self.write();
        if *certificate == dpid.to_string() {
            return tables.proven.insert(*dpid);
        }
        let is_free = !tables.listed.contains_key(dpid) && !tables.is_given(*dpid) && tables.has_room();
        self.pinned.is_some()
            && is_free
            && is_plain(certificate)
            && self.pin(&mut tables, certificate, *dpid).is_ok()
    }

    /// Pins an id that is nobody's yet, where first use decides.
    fn pin(&self, tables: &mut Tables, name: &str, dpid: DatapathId) -> Result<(), ClaimError> {
        let Some(file) = self.pinned.as_deref().filter(|_| !tables.pinned.contains_key(&dpid)) else {
            return Ok(());
        };
        if let Err(error) = file::append(file, name, dpid) {
            warn!(file = %file.display(), %error, "a datapath id cannot be pinned");
            let why = "it cannot be pinned, since --openflow-pins cannot be written".to_owned();
            return Err(ClaimError { dpid, why });
        }
        info!(%dpid, certificate = name, file = %file.display(), "datapath id pinned to the certificate");
        tables.pinned.entry(dpid).or_default().insert(name.to_owned());
        Ok(())
    }

    fn tables(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
