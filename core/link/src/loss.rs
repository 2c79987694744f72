//! Frame loss, independent or in bursts by the Gilbert model.

use crate::parameters::Parameters;
use crate::random::Random;

/// Which frames are lost: each by itself, or in bursts.
///
/// Bursts are those of Gilbert (1960): every frame is lost while the link is in its bad state, none in its good one.
/// The chances to change state follow from the share of frames lost and the mean length of a burst.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    bad: bool,
}

impl Losses {
    /// The fate of the next frame.
    pub(crate) fn next(&mut self, parameters: &Parameters, random: &mut Random) -> bool {
        let loss = parameters.loss.share();
        if parameters.loss_burst <= 1.0 || loss >= 1.0 {
            return random.happens(loss);
        }
        let recovers = 1.0 / parameters.loss_burst;
        let turn = if self.bad { recovers } else { (recovers * loss / (1.0 - loss)).min(1.0) };
        self.bad ^= random.happens(turn);
        self.bad
    }
}
