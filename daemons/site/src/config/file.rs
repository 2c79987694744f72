//! The form of `site.toml`.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) private_key: PathBuf,
    pub(super) port: Option<Spanned<i64>>,
    pub(super) status: Option<PathBuf>,
    #[serde(default)]
    pub(super) uplink: Vec<Spanned<Uplink>>,
    #[serde(default)]
    pub(super) peer: Vec<Spanned<Peer>>,
    pub(super) lan: Spanned<Lan>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Uplink {
    pub(super) interface: Spanned<String>,
    pub(super) rate: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Peer {
    pub(super) name: Spanned<String>,
    pub(super) public_key: Spanned<String>,
    #[serde(default)]
    pub(super) addresses: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) path: Vec<Spanned<Path>>,
    #[serde(default)]
    pub(super) networks: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Path {
    pub(super) uplink: Spanned<String>,
    pub(super) address: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lan {
    pub(super) device: Option<Spanned<String>>,
    pub(super) bridge: Option<Spanned<String>>,
    pub(super) address: Option<Spanned<String>>,
}
