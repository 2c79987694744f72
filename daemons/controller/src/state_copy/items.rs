//! Lists whose items are copied one after the other, in the order of their key.

use braid_control::Sizes;

use super::List;
use crate::engine::Engine;
use crate::http::item_lists;

/// An item of a list that is copied piece by piece.
pub(crate) trait Copied: Sized {
    /// Items of a piece: so many that it takes some microseconds.
    const PIECE: usize;

    /// The items that follow one, or all.
    fn following(engine: &Engine, last: Option<&Self>) -> impl Iterator<Item = Self>;

    /// How many there are, of a long list, so that nothing is moved because it grows.
    fn expected(_sizes: &Sizes) -> u64 {
        0
    }
}

macro_rules! define {
    ($($name:ident: $list:ident, $item:ty;)*) => {
        /// The lists of a copy whose items were copied one after the other. Those that were not asked for are empty.
        #[derive(Debug, Default)]
        pub(crate) struct Items {
            $(pub(crate) $name: Vec<$item>,)*
        }

        impl Items {
            /// Makes room for a list.
            pub(super) fn reserve(&mut self, list: List, sizes: &Sizes) {
                match list {
                    $(List::$list => self.$name.reserve(<$item>::expected(sizes) as usize),)*
                    _ => {}
                }
            }

            /// Copies one more piece of a list; whether it was the last. `None` for other lists.
            pub(super) fn copy_some(&mut self, list: List, engine: &Engine) -> Option<bool> {
                match list {
                    $(List::$list => Some(extend(&mut self.$name, engine)),)*
                    _ => None,
                }
            }
        }
    };
}
item_lists!(define);

/// Appends one piece; whether it is the last.
fn extend<T: Copied>(items: &mut Vec<T>, engine: &Engine) -> bool {
    let before = items.len();
    let more: Vec<_> = T::following(engine, items.last()).take(T::PIECE).collect();
    items.extend(more);
    items.len() - before < T::PIECE
}
