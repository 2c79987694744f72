//! The file of identities: which names of certificates may claim which datapath ids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use braid_types::DatapathId;
use serde::Deserialize;

use super::IdentityFileError;
use crate::token_table::document;

/// The names of certificates that may claim each datapath id.
pub(super) type Table = BTreeMap<DatapathId, BTreeSet<String>>;

/// The file's content.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    switch: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    certificate: String,
    datapath_ids: Vec<String>,
}

/// The names for each id, and the names without any.
pub(super) fn read(file: &Path) -> Result<(Table, BTreeSet<String>), IdentityFileError> {
    let text = fs::read_to_string(file);
    let text = text.map_err(|source| IdentityFileError::Read { file: file.to_owned(), source })?;
    parse(&text).map_err(|reason| IdentityFileError::Content { file: file.to_owned(), reason })
}

pub(super) fn parse(text: &str) -> Result<(Table, BTreeSet<String>), String> {
    let (mut table, mut denied) = (Table::new(), BTreeSet::new());
    for Entry { certificate, datapath_ids } in document::<File>(text)?.switch {
        let name = certificate.to_ascii_lowercase();
        if datapath_ids.is_empty() {
            denied.insert(name.clone());
        }
        for id in datapath_ids {
            let dpid = id.parse().map_err(|error| format!("switch {certificate:?}: {error}"))?;
            table.entry(dpid).or_default().insert(name.clone());
        }
    }
    Ok((table, denied))
}

/// Appends an entry, with a name that [`super::tables::is_plain`].
pub(super) fn append(file: &Path, name: &str, dpid: DatapathId) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    let before = file.metadata()?.len();
    let entry = format!("[[switch]]\ncertificate = \"{name}\"\ndatapath_ids = [\"{dpid}\"]\n\n");
    file.write_all(entry.as_bytes()).and_then(|()| file.sync_data()).inspect_err(|_| {
        // Half an entry would make the file invalid.
        let _ = file.set_len(before);
    })
}
