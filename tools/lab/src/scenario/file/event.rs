//! Events in a scenario file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::DirectionParameters;
use crate::scenario::ControllerRole;
use crate::scenario::amounts::Moment;
use crate::scenario::spanned::Spanned;

/// An event during every transfer, of a link or a controller.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Event {
    /// When, after the start of the transfer.
    pub at: Spanned<Moment>,
    /// The link: its two ends, each `SWITCH`, `HOST` or `HOST.INTERFACE`.
    pub link: Option<Spanned<Vec<Spanned<String>>>>,
    /// The controller, of several.
    pub controller: Option<Spanned<ControllerRole>>,
    /// Which of several links between the two ends, from 1.
    pub nth: Option<Spanned<usize>>,
    /// What happens; this or `set`.
    #[serde(rename = "do")]
    pub act: Option<Spanned<Act>>,
    /// Changes of both directions.
    pub set: Option<Spanned<DirectionParameters>>,
    /// Changes of the direction from the second end to the first.
    pub reverse: Option<Spanned<DirectionParameters>>,
}

/// What an event does besides setting values.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum Act {
    /// Both ends of the link lose their carrier.
    Cut,
    /// They get it back.
    Restore,
    /// The controller gets SIGKILL.
    Kill,
    /// The controller gets SIGSTOP, as if it hung.
    Stop,
    /// The leading controller has a standby lead.
    HandOver,
}
