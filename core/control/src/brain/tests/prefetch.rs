//! Prefetch of the tables that a message will need: any bytes are harmless.

use proptest::prelude::*;

use crate::brain::Brain;
use crate::settings::Settings;

proptest! {
    #[test]
    fn whatever_lies_ahead_is_harmless(
        mut bytes in prop::collection::vec(any::<u8>(), 0..300),
        length in 0..80_u8,
    ) {
        // Mostly packet-ins, and the first one always.
        for (at, byte) in [(0, 4), (1, 10), (2, 0), (3, length), (26, 0), (27, 12), (52, 0x86), (53, 0xdd)] {
            bytes.get_mut(at).into_iter().for_each(|it| *it = byte);
        }
        Brain::new(Settings::default()).prefetch(&bytes);
    }
}
