//! Which parts of a list were copied, and when.

use std::collections::BTreeMap;
use std::ops::Bound;

use braid_types::Time;
use tokio::time::Instant;

/// Spans of a list; of more, all are copied anew. A hundred thousand items have about a hundred.
const MAX_SPANS: usize = 1_024;

/// Spans that do not overlap, by the key after which they begin.
#[derive(Debug)]
pub(super) struct Coverage<K>(BTreeMap<Option<K>, Span<K>>);

/// All items after a key, up to another one, as they were copied at once.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Span<K> {
    /// The last key, unless the list ends here.
    pub(super) end: Option<K>,
    /// What happened until then is in it.
    pub(super) now: Time,
    /// It was copied after that.
    pub(super) asked_at: Instant,
}

impl<K> Span<K> {
    /// Up to the end of the list.
    pub(super) const fn whole(now: Time, asked_at: Instant) -> Self {
        Self { end: None, now, asked_at }
    }
}

impl<K: Ord> Span<K> {
    /// Whether it has room for a key that follows this one.
    fn reaches_beyond(&self, key: Option<&K>) -> bool {
        self.end.as_ref().is_none_or(|end| key.is_none_or(|key| key < end))
    }
}

impl<K: Ord + Clone> Coverage<K> {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The span that has what follows this key.
    pub(super) fn at(&self, after: &Option<K>) -> Option<&Span<K>> {
        let (_, span) = self.0.range((Bound::Unbounded, Bound::Included(after))).next_back()?;
        Some(span).filter(|span| span.reaches_beyond(after.as_ref()))
    }

    /// Everything after this key was copied anew, up to the end of the span. Of older spans remains what is beyond.
    pub(super) fn insert(&mut self, after: Option<K>, span: Span<K>) {
        let is_reached = |start: &Option<K>| span.reaches_beyond(start.as_ref());
        let is_replaced =
            |start: &Option<K>, it: &mut Span<K>| is_reached(start) && it.reaches_beyond(after.as_ref());
        let replaced: Vec<_> = self.0.extract_if(.., is_replaced).collect();
        for (start, old) in replaced {
            if span.end.is_some() && old.reaches_beyond(span.end.as_ref()) {
                self.0.insert(span.end.clone(), old.clone());
            }
            if start < after {
                self.0.insert(start, Span { end: after.clone(), ..old });
            }
        }
        if self.0.len() >= MAX_SPANS {
            self.0.clear();
        }
        self.0.insert(after, span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans from one key to another, each with its number as its time; 0 and 99 are the ends of the list.
    fn coverage(spans: &[(u8, u8)]) -> Coverage<u8> {
        let (mut coverage, asked_at) = (Coverage::new(), Instant::now());
        for (number, (start, end)) in spans.iter().enumerate() {
            let (start, end) = (Some(*start).filter(|it| *it > 0), Some(*end).filter(|it| *it < 99));
            coverage.insert(start, Span { end, now: Time::from_nanos(number as u64), asked_at });
        }
        coverage
    }

    /// Which span has what follows 0, 10, 20, ... and 90.
    fn seen(spans: &[(u8, u8)]) -> String {
        let coverage = coverage(spans);
        let number = |key: u8| coverage.at(&Some(key).filter(|it| *it > 0)).map(|it| it.now.as_nanos());
        (0..10).map(|key| number(10 * key).map_or("-".to_owned(), |it| it.to_string())).collect()
    }

    #[test]
    fn the_newest_span_counts_and_of_others_what_is_beyond_it() {
        assert_eq!(seen(&[]), "----------");
        assert_eq!(seen(&[(0, 99)]), "0000000000");
        assert_eq!(seen(&[(20, 40), (60, 99)]), "--00--1111");
        assert_eq!(seen(&[(20, 40), (40, 60)]), "--0011----");
        assert_eq!(seen(&[(0, 99), (20, 40)]), "0011000000");
        assert_eq!(seen(&[(20, 40), (0, 99)]), "1111111111");
        assert_eq!(seen(&[(20, 60), (40, 80)]), "--001111--");
        assert_eq!(seen(&[(40, 80), (20, 60)]), "--111100--");
        assert_eq!(seen(&[(20, 40), (60, 80), (30, 70)]), "--02222 1--".replace(' ', ""));
        assert_eq!(seen(&[(20, 80), (20, 40)]), "--110000--");
        assert_eq!(seen(&[(20, 40), (20, 99)]), "--11111111");
    }

    #[test]
    fn spans_are_bounded() {
        let (mut coverage, asked_at) = (Coverage::new(), Instant::now());
        for start in 0..2 * MAX_SPANS {
            coverage.insert(Some(start), Span::whole(Time::ZERO, asked_at));
            assert!(coverage.0.len() <= MAX_SPANS);
        }
        assert!(coverage.at(&Some(2 * MAX_SPANS)).is_some());
    }
}
