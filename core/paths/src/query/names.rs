//! The trait that translates names of hosts and switches to datapath ids, and its form for blueprints.

use braid_topology::Blueprint;
use braid_types::{DatapathId, PortNo, SwitchPort};

/// The meaning of names in a network.
pub trait Names {
    /// The switches that a text means: the switch of this name, or those to which the host of this name is attached.
    /// At least one.
    ///
    /// # Errors
    /// Why there is none, as a sentence for people.
    fn locate(&self, text: &str) -> Result<Vec<DatapathId>, String>;

    /// The switch of this name, or with this text as its datapath id.
    fn switch(&self, text: &str) -> Option<DatapathId>;

    /// The port `NODE:PORT`.
    fn port(&self, text: &str) -> Option<SwitchPort> {
        let (switch, port) = text.rsplit_once(':')?;
        Some(SwitchPort::new(self.switch(switch)?, PortNo(port.parse().ok()?)))
    }
}

impl Names for Blueprint {
    fn locate(&self, text: &str) -> Result<Vec<DatapathId>, String> {
        let found = Blueprint::locate(self, text).map_err(|unknown| unknown.to_string())?;
        Ok(found.into_iter().map(|index| self.switches()[index].dpid).collect())
    }

    fn switch(&self, text: &str) -> Option<DatapathId> {
        self.switch_called(text).map(|index| self.switches()[index].dpid)
    }
}
