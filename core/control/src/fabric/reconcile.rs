//! Labels that switches have of an earlier controller are used on, once their paths are known.

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort};

use super::Fabric;
use crate::context::Context;
use crate::installed::highest;
use crate::label::Label;
use crate::pipeline::Rule;

/// Numbers left free above those that were found, for what switches may know that join later.
const LABEL_NUMBER_GAP: u32 = 1 << 16;

/// No path has more switches.
const MAX_HOPS: usize = 256;

impl Fabric {
    /// New labels get other numbers than those in the rules of a switch.
    pub(super) fn load(&mut self, dpid: DatapathId, rules: &[Rule]) {
        let (labels, _) = highest(rules);
        labels.into_iter().flatten().for_each(|label| self.labels.skip(label, LABEL_NUMBER_GAP));
        self.labels.groups.load(dpid, rules);
    }

    /// Takes over the labels whose paths have become known; returns them and the switches where they begin.
    pub(crate) fn reconcile(&mut self, cx: &mut Context<'_>) -> Vec<(Label, DatapathId)> {
        let mut known = Vec::new();
        for (label, from) in cx.out.installed.edges() {
            let Some(path) = self.trace(cx, label, from) else { continue };
            cx.out.installed.close_edge(label);
            if self.labels.adopt(cx.now, label, &path) {
                self.write(cx, label, &path);
                known.push((label, from.dpid));
            }
        }
        known
    }

    /// Takes over the bypasses that an earlier controller has written, as far as they are those that are wanted.
    pub(crate) fn reconcile_bypasses(&mut self, cx: &mut Context<'_>) {
        self.bypasses.reconcile(cx);
    }

    /// What was found and is not used is about to be removed.
    pub(crate) fn end_reconciliation(&mut self) {
        self.labels.groups.end_reconciliation();
    }

    /// The path that packets with this label take now; `None` while a link or a rule of it is not known.
    fn trace(&self, cx: &Context<'_>, label: Label, from: SwitchPort) -> Option<Path> {
        let (mut links, mut at) = (Vec::<Link>::new(), from);
        while links.len() < MAX_HOPS {
            let link = cx.topology.link_at(at)?;
            links.push(link);
            match self.exit_of(cx, label, link.dst.dpid)? {
                Some(port) => at = SwitchPort::new(link.dst.dpid, port),
                None => return Path::over(&links),
            }
        }
        None
    }

    /// The port by which packets with this label leave a switch now, or none where they have arrived.
    fn exit_of(&self, cx: &Context<'_>, label: Label, dpid: DatapathId) -> Option<Option<PortNo>> {
        let found = |label| cx.out.installed.get(dpid, &Rule::Egress { label });
        match found(label).or_else(|| label.group().and_then(found)) {
            Some(Rule::Transit(hop)) => Some(Some(hop.port)),
            Some(_) => Some(None),
            // Another label of its group was taken over, and the rule with it.
            None => self.labels.groups.exit(label, dpid).map(Some),
        }
    }
}
