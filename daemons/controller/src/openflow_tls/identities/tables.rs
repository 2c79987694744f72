//! Which name of a certificate owns which datapath id, and who may claim one that nobody owns yet.

use std::collections::BTreeSet;

use braid_types::DatapathId;

use super::ClaimError;
use super::file::Table;

/// Datapath ids that first use may pin; more than any network has switches.
const MAX_PINS: usize = 16_384;
/// Datapath ids that first use may pin to one certificate: bridges of one machine.
pub(super) const MAX_PINS_OF_NAME: usize = 64;
/// The longest name that is pinned.
const MAX_NAME: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Tables {
    /// As the operator says.
    pub(super) listed: Table,
    /// Names of certificates that may claim nothing.
    pub(super) denied: BTreeSet<String>,
    /// As first use said.
    pub(super) pinned: Table,
    /// Datapath ids whose switch has joined with a certificate of that name.
    pub(super) proven: BTreeSet<DatapathId>,
}

impl Tables {
    /// Whether a certificate with these names may claim a datapath id. One that nobody owns is free where first use decides.
    pub(super) fn check(
        &self,
        names: &[String],
        dpid: DatapathId,
        first_use_decides: bool,
    ) -> Result<(), ClaimError> {
        let refuse = |why| Err(ClaimError { dpid, why });
        let shown = names.first().map_or("", String::as_str);
        if names.iter().any(|name| self.denied.contains(name)) {
            return refuse(format!("--openflow-identities gives the certificate of {shown:?} nothing"));
        }
        let owns = |owners: &BTreeSet<String>| names.iter().any(|name| owners.contains(name));
        if let Some(owners) = self.listed.get(&dpid) {
            return match owns(owners) {
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
        if let Some(owners) = self.pinned.get(&dpid) {
            return match owns(owners) {
                true => Ok(()),
                false => refuse(format!(
                    "the certificate is of {shown:?}, and {} had this id first: if the switch was replaced, remove its \
                     entry from --openflow-pins",
                    list(owners)
                )),
            };
        }
        if first_use_decides && !self.listed.values().any(owns) {
            return self.check_pin(names, dpid);
        }
        refuse(format!(
            "nothing gives it to the certificate of {shown:?}: add it to --openflow-identities, or issue a \
             certificate named {dpid}"
        ))
    }

    /// Whether a connection without a certificate may claim a datapath id: one that nobody else has proven.
    pub(super) fn check_without_certificate(&self, dpid: DatapathId) -> Result<(), ClaimError> {
        if !self.listed.contains_key(&dpid) && !self.is_given(dpid) {
            return Ok(());
        }
        let why = "it belongs to a certificate, and the connection is plain TCP: connect to ssl:".to_owned();
        Err(ClaimError { dpid, why })
    }

    /// Whether first use, or a certificate of its name, has given the id to somebody.
    pub(super) fn is_given(&self, dpid: DatapathId) -> bool {
        self.pinned.contains_key(&dpid) || self.proven.contains(&dpid)
    }

    /// Whether first use may pin an id to a certificate with these names.
    fn check_pin(&self, names: &[String], dpid: DatapathId) -> Result<(), ClaimError> {
        let refuse = |why: &str| Err(ClaimError { dpid, why: why.to_owned() });
        if self.proven.contains(&dpid) {
            return refuse("the switch with a certificate of that name has joined before");
        }
        let Some(name) = names.iter().find(|name| is_plain(name)) else {
            return refuse(
                "the certificate has no name that can be written down: issue one with a plain name",
            );
        };
        if !self.has_room() {
            return refuse("too many datapath ids are pinned: remove old entries from --openflow-pins");
        }
        if self.pinned.values().filter(|owners| owners.contains(name)).count() >= MAX_PINS_OF_NAME {
            return refuse(
                "first use has given its certificate many ids already: list them in --openflow-identities",
            );
        }
        Ok(())
    }

    /// Whether one more id can be pinned.
    pub(super) fn has_room(&self) -> bool {
        self.pinned.len() < MAX_PINS
    }
}

/// Whether a name needs no escapes in TOML.
pub(super) fn is_plain(name: &str) -> bool {
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
