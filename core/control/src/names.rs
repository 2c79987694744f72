//! Names of switches and ports, and texts with them.

use std::fmt;

use braid_types::{DatapathId, SwitchPort};

/// Names of switches and ports.
pub trait NetworkNames {
    /// The name of a switch, if it has one.
    fn switch(&self, dpid: DatapathId) -> Option<&str>;

    /// The name of a port in its switch, if it has one.
    fn port(&self, at: SwitchPort) -> Option<&str>;
}

/// Nothing has a name.
#[derive(Clone, Copy, Debug)]
pub struct NoNames;

/// Something as text, with names.
#[derive(Clone, Copy)]
pub struct Text<'a, T> {
    pub(crate) of: &'a T,
    pub(crate) names: &'a dyn NetworkNames,
}

impl NetworkNames for NoNames {
    fn switch(&self, _: DatapathId) -> Option<&str> {
        None
    }

    fn port(&self, _: SwitchPort) -> Option<&str> {
        None
    }
}

impl<T> Text<'_, T> {
    /// A switch by name, with its datapath id.
    pub(crate) fn switch(&self, dpid: DatapathId) -> String {
        self.names.switch(dpid).map_or_else(|| dpid.to_string(), |name| format!("{name} ({dpid})"))
    }

    /// A port by the names of the switch and of the port.
    pub(crate) fn port(&self, at: SwitchPort) -> String {
        let port = self.names.port(at).map_or_else(|| at.port.to_string(), str::to_owned);
        format!("{}:{port}", self.hop(at.dpid))
    }

    /// A switch by name alone, where it has one.
    pub(crate) fn hop(&self, dpid: DatapathId) -> String {
        self.names.switch(dpid).map_or_else(|| dpid.to_string(), str::to_owned)
    }

    /// Writes the switches of a path.
    pub(crate) fn write_path(
        &self,
        f: &mut fmt::Formatter<'_>,
        switches: impl IntoIterator<Item = DatapathId>,
    ) -> fmt::Result {
        for (index, dpid) in switches.into_iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", self.hop(dpid))?;
        }
        Ok(())
    }
}
