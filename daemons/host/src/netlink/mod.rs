//! Netlink: attributes, messages, and a socket that asks and listens.
//!
//! What the kernel sends is read without trust: what is too short, too long or unknown is an error or is passed over.

mod attributes;
mod generic;
mod message;
mod socket;

pub use attributes::{Attribute, Attributes, Writer};
pub use generic::{Family, Group};
pub use message::{Body, Message, Messages, Request, generic};
pub use socket::{NetlinkError, Socket};
