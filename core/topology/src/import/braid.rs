//! Import of Braid's own JSON.

use std::collections::BTreeMap;

use braid_types::{DatapathId, SwitchPort};

use super::document::malformed;
use super::problem::remedy;
use super::{ImportProblem, check_size};
use crate::LinkState;
use crate::blueprint::{Blueprint, BlueprintError, Builder, NewInterface, NewSwitch, Plug, Position};
use crate::format::{Document, Host, Link, SCHEMA, Switch, Topology};

/// Reads Braid's own JSON, the exact inverse of [`export::json`](crate::export::json).
///
/// Unknown keys are ignored.
///
/// # Errors
///
/// [`ImportProblem`] if the text is not such JSON or not a network.
pub fn braid(text: &str, file: &str) -> Result<Blueprint, ImportProblem> {
    check_size(text, file)?;
    let document: Document = serde_json::from_str(text).map_err(|error| malformed(file, &error))?;
    if document.schema != SCHEMA {
        let what = format!("{:?} is not the schema of this reader", document.schema);
        return Err(ImportProblem::new(file, None, "schema", what, format!("it reads {SCHEMA:?}")));
    }
    Reading { file, by_dpid: BTreeMap::new() }.blueprint(document.topology)
}

struct Reading<'a> {
    file: &'a str,
    by_dpid: BTreeMap<DatapathId, usize>,
}

impl Reading<'_> {
    fn blueprint(mut self, topology: Topology) -> Result<Blueprint, ImportProblem> {
        let mut builder = Blueprint::builder(topology.name);
        for (index, switch) in topology.switches.into_iter().enumerate() {
            self.add_switch(&mut builder, switch, &format!("topology.switches[{index}]"))?;
        }
        for (index, link) in topology.links.into_iter().enumerate() {
            self.add_link(&mut builder, link, &format!("topology.links[{index}]"))?;
        }
        for (index, host) in topology.hosts.into_iter().enumerate() {
            self.add_host(&mut builder, host, &format!("topology.hosts[{index}]"))?;
        }
        Ok(builder.build())
    }

    fn add_switch(
        &mut self,
        builder: &mut Builder,
        switch: Switch,
        place: &str,
    ) -> Result<(), ImportProblem> {
        let Switch { name, dpid, position, group } = switch;
        let position = position.map(|it| {
            let what = format!("{}, {} is nowhere on Earth", it.latitude, it.longitude);
            let nowhere = || self.problem(format!("{place}.position"), what, "mend it, or leave it out");
            Position::new(it.latitude, it.longitude).ok_or_else(nowhere)
        });
        let new = NewSwitch { name, dpid: Some(dpid), position: position.transpose()?, group };
        let index = builder.switch(new).map_err(|error| self.refuse(place, &error))?;
        self.by_dpid.insert(dpid, index);
        Ok(())
    }

    fn add_link(&self, builder: &mut Builder, link: Link, place: &str) -> Result<(), ImportProblem> {
        let [a, b] = link.ends.map(|end| self.plug(end, place));
        let states = link.states.map(|state| state.map(LinkState::from));
        builder.directed_link([a?, b?], states).map_err(|error| self.refuse(place, &error))
    }

    fn add_host(&self, builder: &mut Builder, host: Host, place: &str) -> Result<(), ImportProblem> {
        let interfaces = host.interfaces.into_iter().map(|interface| {
            let plug = self.plug(interface.at, place)?;
            Ok(NewInterface { plug, states: interface.states.map(LinkState::from) })
        });
        let interfaces = interfaces.collect::<Result<_, _>>()?;
        builder.host_with(host.name, interfaces).map_err(|error| self.refuse(place, &error))
    }

    fn plug(&self, at: SwitchPort, place: &str) -> Result<Plug, ImportProblem> {
        let what = || format!("there is no switch {}", at.dpid);
        let unknown = || self.problem(place, what(), "add it to topology.switches, or mend the datapath id");
        let switch = *self.by_dpid.get(&at.dpid).ok_or_else(unknown)?;
        Ok(Plug { switch, port: Some(at.port) })
    }

    fn refuse(&self, place: &str, error: &BlueprintError) -> ImportProblem {
        self.problem(place, error.to_string(), remedy(error))
    }

    fn problem(&self, place: impl Into<String>, what: impl Into<String>, remedy: &str) -> ImportProblem {
        ImportProblem::new(self.file, None, place, what, remedy)
    }
}
