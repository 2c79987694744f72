//! The plan of a bundle: what cross traffic leaves of links, and the paths that are not suspended, given to the planner.

use braid_paths::Path;
use braid_planner::SprayPlan;

use super::{BundleKey, Spray};
use crate::context::Context;

impl Spray {
    /// The paths over which a bundle would be sprayed now.
    pub(super) fn plan(&self, cx: &Context<'_>, BundleKey { ends, policy }: BundleKey) -> SprayPlan {
        let graph = cx.paths.graph();
        let room = |edge| self.cross_traffic.room(graph.link(edge), graph.state(edge).capacity);
        let conditions = cx.paths.conditions(cx.now);
        let is_usable = |path: &Path| !conditions.is_suspended(path);
        let is_clean = |path: &Path| is_usable(path) && conditions.degradation(path).is_none();
        let clean = policy.plan(&mut cx.paths.finder(), ends, room, is_clean);
        // Edges give lossy paths a small share, so a few of them are better than none.
        if clean.members.len() > 1 {
            clean
        } else {
            policy.plan(&mut cx.paths.finder(), ends, room, is_usable)
        }
    }
}
