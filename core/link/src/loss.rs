//! Frame loss, independent or in bursts by the Gilbert model.

use crate::parameters::Parameters;
use crate::random::Random;

/// The loss process: independent or in bursts.
///
/// Bursts follow Gilbert (1960): all frames are lost in the bad state, none in the good state. The transition
/// probabilities follow from the loss rate and the mean burst length.
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
