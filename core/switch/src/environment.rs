//! The environment of a machine while it handles an event: time, identity, and the controllers to notify.

use braid_types::Time;

use crate::connections::Connections;
use crate::switch::Identity;

/// The context that machines share while they handle an event.
pub(crate) struct Environment<'a> {
    pub(crate) now: Time,
    pub(crate) identity: &'a Identity,
    pub(crate) controllers: &'a mut Connections,
}
