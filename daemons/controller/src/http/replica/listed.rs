//! Items of an API list: their key, and the cursor that names the key at the end of a page.

use std::fmt::Debug;

use braid_api::{Item, Page};
use braid_assign::AssignmentId;
use braid_control::AlarmSource;
use braid_steering::TransferId;
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort};

use tokio::time::Instant;

use super::{Naming, Replica, Table, Tables};
use crate::http::problem::Problem;
use crate::state_copy::Keyed;

/// An item of a list, as the engine's copy has it.
pub(in crate::http) trait Listed: Keyed<Key: Cursor> + PartialEq + Debug {
    /// The same item as API clients see it.
    type Wire: Item;

    fn wire(&self, naming: &Naming) -> Self::Wire;
}

/// Where a list is copied to.
pub(in crate::http) trait Tabled: Listed {
    fn table(tables: &Tables) -> &Table<Self>;

    fn table_mut(tables: &mut Tables) -> &mut Table<Self>;

    /// Copies the list since then, or at least the items that follow this key.
    fn renew(
        replica: &Replica,
        after: Option<Self::Key>,
        since: Instant,
    ) -> impl Future<Output = Result<(), Problem>> + Send;
}

/// The name of a list in the API.
pub(in crate::http) const fn name<T: Listed>() -> &'static str {
    <<T::Wire as Item>::Page as Page>::NAME
}

/// A key as API clients hand it back to read on.
pub(in crate::http) trait Cursor:
    Ord + Clone + Debug + Send + Sync + Sized + 'static
{
    fn write(&self) -> String;

    fn read(text: &str) -> Option<Self>;
}

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

/// A port as such, a peer with a mark that no port has.
impl Cursor for AlarmSource {
    fn write(&self) -> String {
        match self {
            Self::Port(at) => at.write(),
            Self::Peer(peer) => format!("peer={peer}"),
        }
    }

    fn read(text: &str) -> Option<Self> {
        match text.strip_prefix("peer=") {
            Some(peer) => peer.parse().ok().map(Self::Peer),
            None => SwitchPort::read(text).map(Self::Port),
        }
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

/// Where an alarm comes from, and its kind.
impl Cursor for (AlarmSource, String) {
    fn write(&self) -> String {
        format!("{}:{}", self.0.write(), self.1)
    }

    fn read(text: &str) -> Option<Self> {
        let (at, kind) = text.rsplit_once(':')?;
        Some((AlarmSource::read(at)?, kind.to_owned()))
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
        assert_round_trip(&(AlarmSource::Port(at), "forged_lldp".to_owned()));
        for peer in ["10.0.0.1", "2001:db8::1"] {
            let peer = AlarmSource::Peer(peer.parse().expect("an address"));
            assert_round_trip(&(peer, "wrong_token".to_owned()));
        }
        assert_round_trip(&MacAddr::from_u64(7));
        assert_round_trip(&TransferId(u64::MAX));
        assert_round_trip(&AssignmentId(7));
        assert_eq!(SwitchPort::read("2a"), None);
        assert_eq!(TransferId::read("-1"), None);
    }
}
