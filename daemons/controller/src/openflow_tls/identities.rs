//! Which certificate may claim which datapath id: from a file, by name, or by first use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use braid_control::Threat;
use braid_types::DatapathId;
use serde::Deserialize;
use tracing::{info, warn};

use crate::token_table::document;

/// Datapath ids that first use may pin; more than any network has switches.
const MAX_PINS: usize = 16_384;
/// Datapath ids that first use may pin to one certificate: bridges of one machine.
const MAX_PINS_OF_NAME: usize = 64;
/// The longest name that is pinned.
const MAX_NAME: usize = 128;

/// The names of certificates that may claim each datapath id.
#[derive(Debug, Default)]
pub struct SwitchIdentities {
    listed: Option<PathBuf>,
    pinned: Option<PathBuf>,
    tables: RwLock<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    /// As the operator says.
    listed: Table,
    /// Names of certificates that may claim nothing.
    denied: BTreeSet<String>,
    /// As first use said.
    pinned: Table,
    /// Datapath ids whose switch has joined with a certificate of that name.
    proven: BTreeSet<DatapathId>,
}

type Table = BTreeMap<DatapathId, BTreeSet<String>>;

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
    pub(crate) fn threat(&self) -> Threat {
        Threat::ForeignDatapathId { dpid: self.dpid, why: self.why.clone() }
    }
}

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
        let (listed, denied) = self.listed.as_deref().map(read).transpose()?.unwrap_or_default();
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let pinned = match self.pinned.as_deref().map(read).transpose() {
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
        let refuse = |why| Err(ClaimError { dpid, why });
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let shown = names.first().map_or("", String::as_str);
        if names.iter().any(|name| tables.denied.contains(name)) {
            return refuse(format!("--openflow-identities gives the certificate of {shown:?} nothing"));
        }
        if let Some(owners) = tables.listed.get(&dpid) {
            return match names.iter().any(|name| owners.contains(name)) {
                true => Ok(()),
                false => refuse(format!(
                    "the certificate is of {shown:?}, and --openflow-identities gives this id to {}",
                    list(owners)
                )),
            };
        }
        if let Some(named) = names.iter().find(|name| is_datapath_id(name)) {
            return match *named == dpid.to_string() {
                true => Ok(()),
                false => refuse(format!("the certificate is of datapath id {named}")),
            };
        }
        if let Some(owners) = tables.pinned.get(&dpid) {
            return match names.iter().any(|name| owners.contains(name)) {
                true => Ok(()),
                false => refuse(format!(
                    "the certificate is of {shown:?}, and {} had this id first: if the switch was replaced, remove its \
                     entry from --openflow-pins",
                    list(owners)
                )),
            };
        }
        let is_listed = tables.listed.values().any(|owners| names.iter().any(|name| owners.contains(name)));
        match self.pinned.is_some() && !is_listed {
            true if tables.proven.contains(&dpid) => {
                refuse(format!("the switch with a certificate named {dpid} has joined before"))
            }
            true => check_pin(names, dpid, &tables.pinned),
            false => refuse(format!(
                "nothing gives it to the certificate of {shown:?}: add it to --openflow-identities, or issue a \
                 certificate named {dpid}"
            )),
        }
    }

    /// Whether a connection without a certificate may claim a datapath id: one that nobody else has proven.
    pub(super) fn check_without_certificate(&self, dpid: DatapathId) -> Result<(), ClaimError> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let Tables { listed, pinned, proven, .. } = &*tables;
        if !listed.contains_key(&dpid) && !pinned.contains_key(&dpid) && !proven.contains(&dpid) {
            return Ok(());
        }
        let why = "it belongs to a certificate, and the connection is plain TCP: connect to ssl:".to_owned();
        Err(ClaimError { dpid, why })
    }

    /// A switch has joined with a certificate of these names: the id is its own from now on.
    ///
    /// # Errors
    ///
    /// First use should pin the id, and the file cannot be written.
    pub(super) fn note_joined(&self, names: &[String], dpid: DatapathId) -> Result<(), ClaimError> {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if tables.listed.contains_key(&dpid) || tables.pinned.contains_key(&dpid) {
            return Ok(());
        }
        if names.contains(&dpid.to_string()) {
            tables.proven.insert(dpid);
        }
        let (Some(file), Some(name)) = (&self.pinned, names.iter().find(|name| is_plain(name))) else {
            return Ok(());
        };
        if let Err(error) = append(file, name, dpid) {
            warn!(file = %file.display(), %error, "a datapath id cannot be pinned");
            let why = "it cannot be pinned, since --openflow-pins cannot be written".to_owned();
            return Err(ClaimError { dpid, why });
        }
        info!(%dpid, certificate = name, file = %file.display(), "datapath id pinned to the certificate");
        tables.pinned.entry(dpid).or_default().insert(name.clone());
        Ok(())
    }
}

/// Whether first use may pin an id to a certificate with these names.
fn check_pin(names: &[String], dpid: DatapathId, pinned: &Table) -> Result<(), ClaimError> {
    let refuse = |why: &str| Err(ClaimError { dpid, why: why.to_owned() });
    let Some(name) = names.iter().find(|name| is_plain(name)) else {
        return refuse("the certificate has no name that can be written down: issue one with a plain name");
    };
    if pinned.len() >= MAX_PINS {
        return refuse("too many datapath ids are pinned: remove old entries from --openflow-pins");
    }
    if pinned.values().filter(|owners| owners.contains(name)).count() >= MAX_PINS_OF_NAME {
        return refuse(
            "first use has given its certificate many ids already: list them in --openflow-identities",
        );
    }
    Ok(())
}

fn append(file: &Path, name: &str, dpid: DatapathId) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    let before = file.metadata()?.len();
    let entry = format!("[[switch]]\ncertificate = \"{name}\"\ndatapath_ids = [\"{dpid}\"]\n\n");
    file.write_all(entry.as_bytes()).and_then(|()| file.sync_data()).inspect_err(|_| {
        // Half an entry would make the file invalid.
        let _ = file.set_len(before);
    })
}

/// Whether a name needs no escapes in TOML.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && byte != b'"' && byte != b'\\';
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(plain)
}

/// A name that is a datapath id by itself: its 16 hexadecimal digits.
fn is_datapath_id(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

fn read(file: &Path) -> Result<(Table, BTreeSet<String>), IdentityFileError> {
    let text = fs::read_to_string(file);
    let text = text.map_err(|source| IdentityFileError::Read { file: file.to_owned(), source })?;
    parse(&text).map_err(|reason| IdentityFileError::Content { file: file.to_owned(), reason })
}

/// The names for each id, and the names without any.
fn parse(text: &str) -> Result<(Table, BTreeSet<String>), String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "[[switch]]\ncertificate = \"SW1\"\ndatapath_ids = [\"0000000000000001\", \"2\"]\n";

    fn identities(listed: &str, pinned: Option<&Path>) -> SwitchIdentities {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), listed).expect("a file");
        SwitchIdentities::read(Some(file.path().to_owned()), pinned.map(Path::to_owned)).expect("valid")
    }

    fn check(identities: &SwitchIdentities, name: &str, dpid: u64) -> Result<(), String> {
        let names = [name.to_owned()];
        identities.check(&names, DatapathId(dpid)).map_err(|error| error.to_string())
    }

    fn join(identities: &SwitchIdentities, name: &str, dpid: u64) -> Result<(), String> {
        check(identities, name, dpid)?;
        identities.note_joined(&[name.to_owned()], DatapathId(dpid)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_listed_certificate_may_claim_its_ids_and_no_others() {
        let identities = identities(LISTED, None);
        assert_eq!(check(&identities, "sw1", 1), Ok(()));
        assert_eq!(check(&identities, "sw1", 2), Ok(()));
        assert!(check(&identities, "sw1", 3).expect_err("not its own").contains("--openflow-identities"));
        let refused = check(&identities, "sw2", 1).expect_err("of another");
        assert!(refused.contains("\"sw2\"") && refused.contains("\"sw1\""), "{refused}");
    }

    #[test]
    fn a_certificate_named_as_a_datapath_id_may_claim_that_one() {
        let identities = identities("", None);
        assert_eq!(check(&identities, "00000000000000ab", 0xab), Ok(()));
        assert!(check(&identities, "00000000000000ab", 0xac).is_err());
        assert!(check(&identities, "ab", 0xab).is_err(), "sixteen digits, or it is a name");
    }

    #[test]
    fn first_use_pins_an_id_and_the_pin_outlives_the_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let pins = folder.path().join("pins.toml");
        let first = identities(LISTED, Some(&pins));
        assert_eq!(join(&first, "sw3 id:4f-5e", 3), Ok(()));
        assert!(check(&first, "sw4", 3).expect_err("pinned").contains("--openflow-pins"));
        assert!(check(&first, "sw1", 4).is_err(), "listed certificates claim what is listed");
        let second = identities(LISTED, Some(&pins));
        assert_eq!(check(&second, "sw3 id:4f-5e", 3), Ok(()));
        assert!(check(&second, "sw4", 3).is_err());
        assert!(check(&second, "sw\n4", 5).is_err(), "nothing is written that would not read back");
    }

    #[test]
    fn a_claim_pins_nothing_before_the_switch_has_joined() {
        let folder = tempfile::tempdir().expect("a folder");
        let pins = folder.path().join("pins.toml");
        let identities = identities("", Some(&pins));
        for dpid in 1..1_000 {
            assert_eq!(check(&identities, "greedy", dpid), Ok(()));
        }
        assert_eq!(join(&identities, "honest", 7), Ok(()));
        assert!(check(&identities, "greedy", 7).is_err());
        let joined = (100..1_000).filter(|dpid| join(&identities, "greedy", *dpid).is_ok()).count();
        assert_eq!(joined, MAX_PINS_OF_NAME);
    }

    #[test]
    fn an_id_belongs_to_the_certificate_of_its_name_once_that_has_joined() {
        let folder = tempfile::tempdir().expect("a folder");
        let pinning = identities("", Some(&folder.path().join("pins.toml")));
        for identities in [pinning, identities("", None)] {
            assert_eq!(join(&identities, "0000000000000001", 1), Ok(()));
            assert!(check(&identities, "sw9", 1).is_err(), "while it is away, too");
            assert!(identities.check_without_certificate(DatapathId(1)).is_err());
            assert_eq!(join(&identities, "0000000000000001", 1), Ok(()));
        }
    }

    #[test]
    fn a_certificate_that_is_listed_without_ids_may_claim_nothing() {
        let text = "[[switch]]\ncertificate = \"0000000000000001\"\ndatapath_ids = []\n";
        let folder = tempfile::tempdir().expect("a folder");
        let identities = identities(text, Some(&folder.path().join("pins.toml")));
        assert!(check(&identities, "0000000000000001", 1).expect_err("denied").contains("nothing"));
    }

    #[test]
    fn pins_that_are_lost_do_not_free_what_they_gave_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let (pins, list) = (folder.path().join("pins.toml"), folder.path().join("list.toml"));
        fs::write(&list, "").expect("a file");
        let identities = SwitchIdentities::read(Some(list), Some(pins.clone())).expect("valid");
        assert_eq!(join(&identities, "sw3", 3), Ok(()));
        fs::remove_file(&pins).expect("a file");
        assert!(identities.reload().is_err());
        assert!(check(&identities, "sw4", 3).is_err());
    }

    #[test]
    fn without_a_certificate_only_ids_without_an_owner_can_be_claimed() {
        let identities = identities(LISTED, None);
        assert!(identities.check_without_certificate(DatapathId(1)).is_err());
        assert_eq!(identities.check_without_certificate(DatapathId(9)), Ok(()));
    }

    #[test]
    fn errors_of_the_file_name_the_line_or_the_switch() {
        let bad = parse("[[switch]]\ncertificat = \"a\"\ndatapath_ids = []").expect_err("unknown key");
        assert!(bad.starts_with("line "), "{bad}");
        let bad = parse("[[switch]]\ncertificate = \"a\"\ndatapath_ids = [\"xyz\"]").expect_err("no id");
        assert!(bad.contains("switch \"a\""), "{bad}");
    }
}
