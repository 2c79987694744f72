//! Netlink: attributes, messages, and a socket for requests and notifications.
//!
//! Messages of the kernel are checked: those that are too short, too long or unknown are errors or are skipped.

mod attributes;
mod generic;
mod message;
mod socket;

pub use attributes::{Attribute, Attributes, Writer};
pub use generic::{Family, Group};
pub use message::{Body, Message, Messages, Request, generic};
pub use socket::{NetlinkError, Socket};
