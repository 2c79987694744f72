//! The plan of a bundle: what cross traffic leaves of links, and the paths that are not suspended, given to the planner.

use braid_planner::SprayPlan;

use super::{BundleKey, Spray};
use crate::context::Context;

impl Spray {
    /// The paths over which a bundle would be sprayed now.
    pub(super) fn plan(&self, cx: &Context<'_>, BundleKey { ends, policy }: BundleKey) -> SprayPlan {
        let graph = cx.paths.graph();
        let room = |edge| self.cross_traffic.room(graph.link(edge), graph.state(edge).capacity);
        policy.plan(&mut cx.paths.finder(), ends, room, |path| !cx.paths.is_suspended(path, cx.now))
    }
}
