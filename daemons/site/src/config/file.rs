//! The form of `site.toml`.

use std::path::PathBuf;

use braid_types::{BitsPerSec, choice_schema, text_schema, with_schema};
use schemars::JsonSchema;
use serde::Deserialize;

use super::spanned::Spanned;
use super::traffic::{MARKS, MAX_RULES, PATHS, PROTOCOLS};
use super::{MAX_NAME, MAX_UPLINKS};

// What the names of interfaces may be, for the JSON schema.
enum InterfaceText {}

with_schema!(InterfaceText, text_schema("a name of an interface", &format!("[!-.0-~]{{1,{MAX_NAME}}}")));

// The names of what rules of traffic choose, for the JSON schema.
enum PathsText {}
enum ProtocolText {}
enum MarkText {}

with_schema!(PathsText, choice_schema(PATHS.map(|(name, _)| name)));
with_schema!(ProtocolText, choice_schema(PROTOCOLS.map(|(name, _)| name)));
with_schema!(MarkText, choice_schema(MARKS.map(|(name, _)| name)));

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
    /// The address and port at which metrics are served for Prometheus; none without it
    pub(super) metrics: Option<Spanned<String>>,
    /// Whether the kernel passes packets of one kind together where it can (GSO and GRO); true without it
    pub(super) offload: Option<bool>,
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
    /// Which paths which traffic takes
    #[serde(default)]
    pub(super) traffic: Traffic,
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
    /// What it costs; dearer uplinks are used while the cheaper ones are full or down, 0 without it
    #[schemars(range(min = 0, max = u8::MAX))]
    pub(super) cost: Option<Spanned<i64>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Peer {
    /// Its name here
    pub(super) name: Spanned<String>,
    /// Its public key, as `braid site keygen` prints it there
    pub(super) public_key: Spanned<String>,
    /// Addresses or host names that each uplink dials; a site that is dialled has none
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
    /// The address or host name there, with its port unless it is 51820
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
    /// Whether the device is a TAP without a bridge: a port for a switch, for one Ethernet at both sites
    pub(super) ethernet: Option<Spanned<bool>>,
    /// The device's address with its length, such as 10.1.0.1/24
    pub(super) address: Option<Spanned<String>>,
    /// Whether what comes from the peers' networks goes to the Internet by this site's uplinks, with their addresses
    pub(super) nat: Option<Spanned<bool>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Traffic {
    /// The paths of small and urgent packets: DNS, SSH, voice, openings, acknowledgements; quickest without it
    #[schemars(with = "Option<PathsText>")]
    pub(super) urgent: Option<Spanned<String>>,
    /// The first rule that matches a packet decides
    #[schemars(length(max = MAX_RULES))]
    #[serde(default)]
    pub(super) rule: Vec<Spanned<TrafficRule>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrafficRule {
    /// The IP protocol, by name or number; any without it
    #[schemars(with = "Option<NameOr<ProtocolText>>")]
    pub(super) protocol: Option<Spanned<Word>>,
    /// Ports of either end, and ranges of them; any without it
    #[schemars(with = "Vec<Port>")]
    #[serde(default)]
    pub(super) ports: Vec<Spanned<Word>>,
    /// Networks of either end; any without it
    #[serde(default)]
    pub(super) networks: Vec<Spanned<String>>,
    /// Marks of differentiated services, by name or number; any without it
    #[schemars(with = "Vec<NameOr<MarkText>>")]
    #[serde(default)]
    pub(super) dscp: Vec<Spanned<Word>>,
    /// All paths, the quickest one, or two at once
    #[schemars(with = "PathsText")]
    pub(super) paths: Spanned<String>,
}

/// A name or a number, as text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "give a name or a number, such as \"udp\" or 17")]
pub(super) enum Word {
    Number(i64),
    Text(String),
}

impl Word {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// A name or a number
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is read as a word")]
enum NameOr<T> {
    Number(#[schemars(range(min = 0, max = 255))] i64),
    Name(T),
}

/// A port, or a range of ports
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is read as a word")]
enum Port {
    Number(#[schemars(range(min = 0, max = u16::MAX))] i64),
    Text(#[schemars(pattern(r"^\d{1,5}(?:-\d{1,5})?$"))] String),
}
