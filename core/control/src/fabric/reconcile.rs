//! Reconciliation of labels: those of an earlier controller are kept once their paths are known.

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort};

use super::Fabric;
use crate::context::Context;
use crate::installed::highest;
use crate::label::Label;
use crate::pipeline::Rule;

/// Numbers left free above the installed ones, since switches that join later may use them.
const LABEL_NUMBER_GAP: u32 = 1 << 16;

/// The most links of a traced path.
const MAX_HOPS: usize = 256;

impl Fabric {
    /// Makes new labels avoid the numbers in a switch's rules.
    pub(super) fn load(&mut self, dpid: DatapathId, rules: &[Rule]) {
        let (labels, _) = highest(rules);
        labels.into_iter().flatten().for_each(|label| self.labels.skip(label, LABEL_NUMBER_GAP));
        self.labels.groups.load(dpid, rules);
    }

    /// Reconciles the labels whose paths have become known; returns each with its ingress switch.
    pub(crate) fn reconcile(&mut self, cx: &mut Context<'_>) -> Vec<(Label, DatapathId)> {
        let mut known = Vec::new();
        for (label, from) in cx.out.installed.unresolved().labels() {
            let Some(path) = self.trace(cx, label, from) else { continue };
            cx.out.installed.unresolved_mut().close_label(label);
            if self.labels.restore(cx.now, label, &path) {
                self.write(cx, label, &path);
                known.push((label, from.dpid));
            }
        }
        known
    }

    /// The path that packets with this label take now; `None` while one of its links or rules is unknown.
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

    /// The port by which packets with this label leave a switch now; the inner `None` at their last switch.
    fn exit_of(&self, cx: &Context<'_>, label: Label, dpid: DatapathId) -> Option<Option<PortNo>> {
        let found = |label| cx.out.installed.rules().get(dpid, &Rule::Egress { label });
        match found(label).or_else(|| label.group().and_then(found)) {
            Some(Rule::Transit(hop)) => Some(Some(hop.port)),
            Some(_) => Some(None),
            // A label of the same group was reconciled, and the rule with it.
            None => self.labels.groups.exit(label, dpid).map(Some),
        }
    }
}
