//! Families of generic netlink and their multicast groups.
//!
//! Replies are read attribute by attribute, since `netlink-packet-generic` refuses unknown attributes and panics at
//! truncated policies.

use netlink_packet_generic::constants::{
    CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_MCAST_GROUPS, CTRL_ATTR_MCAST_GRP_ID,
    CTRL_ATTR_MCAST_GRP_NAME, CTRL_CMD_GETFAMILY, GENL_ID_CTRL,
};

use super::{Attributes, NetlinkError, Request, Socket, Writer};

/// A family of generic netlink.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// The id that requests use, fixed until the next boot.
    pub id: u16,
    /// Its multicast groups.
    pub groups: Vec<Group>,
}

/// A multicast group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its number.
    pub id: u32,
}

impl Family {
    /// The family `name`.
    ///
    /// # Errors
    ///
    /// The kernel has no such family.
    pub fn find(socket: &mut Socket, name: &'static str) -> Result<Self, NetlinkError> {
        let attributes = Writer::default().text(CTRL_ATTR_FAMILY_NAME, name);
        let request =
            Request { family: GENL_ID_CTRL, command: CTRL_CMD_GETFAMILY, version: 1, all: false, attributes };
        let mut found = None;
        let asked = socket.ask("name a family", &request, |attributes| {
            found = Self::decode(attributes);
            Ok(())
        });
        match asked {
            Err(error) if error.refusal().is_none() => Err(error),
            _ => found.ok_or(NetlinkError::NoFamily(name)),
        }
    }

    /// Parses the kernel's description of a family; `None` if its id is missing.
    #[must_use]
    pub fn decode(attributes: Attributes<'_>) -> Option<Self> {
        let groups = attributes.find(CTRL_ATTR_MCAST_GROUPS);
        let groups = groups.into_iter().flat_map(|groups| groups.nested());
        Some(Self {
            id: attributes.find(CTRL_ATTR_FAMILY_ID)?.u16()?,
            groups: groups.filter_map(|group| Group::decode(group.nested())).collect(),
        })
    }

    /// The id of the multicast group `name`.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<u32> {
        self.groups.iter().find(|group| group.name == name).map(|group| group.id)
    }
}

impl Group {
    fn decode(attributes: Attributes<'_>) -> Option<Self> {
        let name = attributes.find(CTRL_ATTR_MCAST_GRP_NAME)?.text()?.to_owned();
        Some(Self { name, id: attributes.find(CTRL_ATTR_MCAST_GRP_ID)?.u32()? })
    }
}
