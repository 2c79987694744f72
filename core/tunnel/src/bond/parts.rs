//! Packets that were too long for a path, in two parts.

use std::collections::VecDeque;

use braid_spray::Numbered;

use super::frame::Part;

const MAX_WAITING: usize = 64;

/// Parts whose other part has not come; the oldest goes when there are too many.
#[derive(Debug, Default)]
pub(super) struct Parts {
    waiting: VecDeque<(Numbered, Part, Vec<u8>)>,
}

impl Parts {
    /// The whole packet, if both parts are here.
    pub(super) fn join(&mut self, numbered: Numbered, part: Part, bytes: &[u8]) -> Option<Vec<u8>> {
        let other = self.waiting.iter().position(|(of, which, _)| *of == numbered && *which != part);
        if let Some((.., other)) = other.and_then(|place| self.waiting.remove(place)) {
            return Some(if part == Part::First {
                [bytes, &other].concat()
            } else {
                [&other, bytes].concat()
            });
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((numbered, part, bytes.to_vec()));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_in_either_order_and_few_wait() {
        let mut parts = Parts::default();
        let at = |number| Numbered { key: 1, number };
        assert_eq!(parts.join(at(1), Part::First, &[1]), None);
        assert_eq!(parts.join(at(2), Part::Second, &[4]), None);
        assert_eq!(parts.join(at(2), Part::First, &[3]), Some(vec![3, 4]));
        assert_eq!(parts.join(at(1), Part::Second, &[2]), Some(vec![1, 2]));
        (0..10_000).for_each(|number| assert_eq!(parts.join(at(number), Part::First, &[0; 9]), None));
        assert_eq!(parts.waiting.len(), MAX_WAITING);
    }
}
