//! The form of `site.toml`.

use std::path::PathBuf;

use braid_types::{BitsPerSec, text_schema, with_schema};
use schemars::JsonSchema;
use serde::Deserialize;

use super::spanned::Spanned;
use super::{MAX_NAME, MAX_UPLINKS};

// What the names of interfaces may be, for the JSON schema.
enum InterfaceText {}

with_schema!(InterfaceText, text_schema("a name of an interface", &format!("[!-.0-~]{{1,{MAX_NAME}}}")));

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The file of the private key, which `braid site keygen` makes
    pub(super) private_key: PathBuf,
    /// The UDP port at all uplinks; 51820 without it
    #[schemars(range(min = 1, max = u16::MAX))]
    pub(super) port: Option<Spanned<i64>>,
    /// The Unix socket of `braid site status`
    pub(super) status: Option<PathBuf>,
    /// The lines to the Internet
    #[schemars(length(min = 1, max = MAX_UPLINKS))]
    #[serde(default)]
    pub(super) uplink: Vec<Spanned<Uplink>>,
    /// The other sites
    #[schemars(length(min = 1))]
    #[serde(default)]
    pub(super) peer: Vec<Spanned<Peer>>,
    /// The local network
    pub(super) lan: Spanned<Lan>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Uplink {
    /// Its interface
    #[schemars(with = "InterfaceText")]
    pub(super) interface: Spanned<String>,
    /// Its rate, from which its share to begin with follows
    #[schemars(with = "Option<BitsPerSec>")]
    pub(super) rate: Option<Spanned<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Peer {
    /// Its name here
    pub(super) name: Spanned<String>,
    /// Its public key, as `braid site keygen` prints it there
    pub(super) public_key: Spanned<String>,
    /// Addresses that each uplink dials; a site that is dialled has none
    #[serde(default)]
    pub(super) addresses: Vec<Spanned<String>>,
    /// Paths to dial, instead of addresses
    #[serde(default)]
    pub(super) path: Vec<Spanned<Path>>,
    /// The networks behind it; not for a bridge
    #[serde(default)]
    pub(super) networks: Vec<Spanned<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Path {
    /// The interface of an uplink here
    #[schemars(with = "InterfaceText")]
    pub(super) uplink: Spanned<String>,
    /// The address there, with its port unless it is 51820
    pub(super) address: Spanned<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Lan {
    /// The name of the TUN or TAP device; braid0 without it
    #[schemars(with = "Option<InterfaceText>")]
    pub(super) device: Option<Spanned<String>>,
    /// The Linux bridge that the device joins, for one Ethernet at both sites
    #[schemars(with = "Option<InterfaceText>")]
    pub(super) bridge: Option<Spanned<String>>,
    /// The device's address with its length, such as 10.1.0.1/24
    pub(super) address: Option<Spanned<String>>,
}
