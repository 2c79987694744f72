//! Settings of the search for links that are up but lose or corrupt frames.

use std::time::Duration;

/// When a link is degraded, and when it is used again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HealthSettings {
    /// Whether links that lose frames are looked for.
    pub enabled: bool,
    /// The share of lost frames that is looked for. Half of it is found too, later; a tenth of it is tolerated.
    pub loss_limit: f64,
    /// How long a degraded link must be clean until it is used again. Twice as long if it is degraded again soon
    /// after, up to [`Self::hold_max`].
    pub hold: Duration,
    /// The longest such time.
    pub hold_max: Duration,
}

impl Default for HealthSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            loss_limit: 0.01,
            hold: Duration::from_secs(30),
            hold_max: Duration::from_secs(1_800),
        }
    }
}
