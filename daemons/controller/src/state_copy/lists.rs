//! The lists that a copy can contain, and sets of them.

/// A part of the state that is copied at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum List {
    Switches,
    Hosts,
    /// The first links by sending port, [`MAX_FIRST_LINKS`] at most.
    FirstLinks,
    Edges,
    Transfers,
    /// The policy in force.
    Policy,
    /// Sizes and counters.
    Totals,
}

impl List {
    pub(crate) const ALL: &[Self] = &[
        Self::Switches,
        Self::Hosts,
        Self::FirstLinks,
        Self::Edges,
        Self::Transfers,
        Self::Policy,
        Self::Totals,
    ];
}

/// Links of which watchers, history and metrics are told: others are copied only for those who read them.
pub(crate) const MAX_FIRST_LINKS: usize = 8_192;

/// A set of lists.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Lists(u8);

impl Lists {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn of(lists: &[List]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < lists.len() {
            bits |= 1 << lists[at] as u16;
            at += 1;
        }
        Self(bits)
    }

    pub(crate) const fn has(self, list: List) -> bool {
        self.0 & 1 << list as u16 != 0
    }

    pub(crate) const fn and(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    pub(crate) const fn without(self, list: List) -> Self {
        Self(self.0 & !(1 << list as u16))
    }

    /// The first list of the set.
    pub(crate) fn first(self) -> Option<List> {
        List::ALL.iter().copied().find(|list| self.has(*list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_each_list_until_it_is_removed() {
        let mut lists = Lists::of(&[List::Totals]).and(Lists::of(&[List::Switches, List::Hosts]));
        let mut order = Vec::new();
        while let Some(list) = lists.first() {
            order.push(list);
            lists = lists.without(list);
        }
        assert_eq!(order, [List::Switches, List::Hosts, List::Totals]);
        assert_eq!(lists, Lists::NONE);
        assert!(List::ALL.iter().all(|list| Lists::of(List::ALL).has(*list)));
    }
}
