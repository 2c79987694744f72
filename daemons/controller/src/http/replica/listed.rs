//! The lists of the API: by which key each is ordered, and how that is written where a page ends.

use std::fmt::Debug;

use braid_assign::AssignmentId;
use braid_control::view::{EdgeView, HostView, LinkView, TransferRecord};
use braid_control::{Alarm, AssignmentView};
use braid_steering::TransferId;
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort};
use serde::Serialize;

use super::{Table, Tables};
use crate::state_copy::{ConnectedSwitch, List};

/// An item of a list.
pub(in crate::http) trait Listed: PartialEq + Debug + Serialize + Sized {
    /// What tells it from the others, and orders them.
    type Key: Cursor;
    const LIST: List;
    /// What the list is called in an answer.
    const NAME: &'static str;

    fn key(&self) -> Self::Key;

    /// The list of these.
    fn table(tables: &Tables) -> &Table<Self>;
}

/// A key as programs hand it back to read on.
pub(in crate::http) trait Cursor: Ord + Debug + Send + Sized {
    fn write(&self) -> String;

    fn read(text: &str) -> Option<Self>;
}

macro_rules! listed {
    ($item:ty, $list:ident, $name:ident, $key:ty, |$value:ident| $of:expr) => {
        impl Listed for $item {
            type Key = $key;
            const LIST: List = List::$list;
            const NAME: &'static str = stringify!($name);

            fn key(&self) -> $key {
                let $value = self;
                $of
            }

            fn table(tables: &Tables) -> &Table<Self> {
                &tables.$name
            }
        }
    };
}

listed!(ConnectedSwitch, Switches, switches, DatapathId, |it| it.switch.dpid);
listed!(LinkView, Links, links, SwitchPort, |it| it.src);
listed!(HostView, Hosts, hosts, MacAddr, |it| it.mac);
listed!(EdgeView, Edges, edges, DatapathId, |it| it.dpid);
listed!(TransferRecord, Transfers, transfers, TransferId, |it| it.id);
listed!(AssignmentView, Assignments, assignments, AssignmentId, |it| it.id);
listed!(Alarm, Alarms, alarms, (SwitchPort, String), |it| (it.at, it.threat.kind().to_owned()));

macro_rules! as_text {
    ($($key:ty),*) => {$(
        impl Cursor for $key {
            fn write(&self) -> String {
                self.to_string()
            }

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

as_text!(DatapathId, MacAddr, AssignmentId);

impl Cursor for TransferId {
    fn write(&self) -> String {
        self.to_string()
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// The port by its number, whatever that is called.
impl Cursor for SwitchPort {
    fn write(&self) -> String {
        format!("{}:{}", self.dpid, self.port.0)
    }

    fn read(text: &str) -> Option<Self> {
        let (dpid, port) = text.split_once(':')?;
        Some(Self::new(dpid.parse().ok()?, PortNo(port.parse().ok()?)))
    }
}

/// A port, and what kind of thing was done there.
impl Cursor for (SwitchPort, String) {
    fn write(&self) -> String {
        format!("{}:{}", self.0.write(), self.1)
    }

    fn read(text: &str) -> Option<Self> {
        let (at, kind) = text.rsplit_once(':')?;
        Some((SwitchPort::read(at)?, kind.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_round_trip<T: Cursor>(key: &T) {
        let text = key.write();
        assert_eq!(T::read(&text).as_ref(), Some(key), "{text}");
        assert!(T::read(&format!("{text}/")).is_none_or(|other| other != *key), "{text}");
    }

    #[test]
    fn a_cursor_names_the_item_it_was_made_of() {
        let at = SwitchPort::new(DatapathId(0x2a), PortNo::LOCAL);
        assert_round_trip(&at.dpid);
        assert_round_trip(&at);
        assert_round_trip(&(at, "forged_probe".to_owned()));
        assert_round_trip(&MacAddr::from_u64(7));
        assert_round_trip(&TransferId(u64::MAX));
        assert_round_trip(&AssignmentId(7));
        assert_eq!(SwitchPort::read("2a"), None);
        assert_eq!(TransferId::read("-1"), None);
    }
}
