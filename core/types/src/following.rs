//! The range of an ordered map after a given key, for listing it page by page.

use std::ops::Bound;

/// The keys of an ordered map that follow `key`, without it; all of them after `None`.
///
/// ```
/// use std::collections::BTreeMap;
///
/// let map = BTreeMap::from([(1, "a"), (2, "b"), (3, "c")]);
/// let page: Vec<_> = map.range(braid_types::following(Some(1))).take(1).collect();
/// assert_eq!(page, [(&2, &"b")]);
/// assert_eq!(map.range(braid_types::following::<i32>(None)).count(), 3);
/// ```
pub fn following<K>(key: Option<K>) -> (Bound<K>, Bound<K>) {
    (key.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)
}
