//! `GET /api/v1/assignments`, and the forms of assignments and placed streams in JSON.

use braid_api::{Assignment, Assignments, PlacedStream};
use braid_assign::AssignmentId;
use braid_control::{AssignedPath, AssignmentView, PlacedView};

use crate::engine::Engine;
use crate::http::replica::{Listed, Naming};
use crate::state_copy::{Copied, Keyed};

list_route!(/// Paths that applications have set aside.
    assignments, "/api/v1/assignments", AssignmentView, Assignments);

impl Copied for AssignmentView {
    // What it can carry is computed anew.
    const PIECE: usize = 1;

    fn following(engine: &Engine, after: Option<AssignmentId>) -> impl Iterator<Item = Self> {
        engine.brain().assignments_after(after)
    }
}

impl Keyed for AssignmentView {
    type Key = AssignmentId;

    fn key(&self) -> AssignmentId {
        self.id
    }
}

impl Listed for AssignmentView {
    type Wire = Assignment;

    fn wire(&self, naming: &Naming) -> Assignment {
        Assignment {
            id: self.id.to_string(),
            owner: self.owner.to_string(),
            src: self.src,
            dst: self.dst,
            requested_paths: self.wanted,
            expected_streams: self.expected_streams,
            distribution: self.distribution.to_string(),
            opened_at: self.opened_at,
            expires_at: self.expires_at,
            placed_streams: self.placed,
            paths: self.paths.iter().map(|it| path(it, naming)).collect(),
        }
    }
}

fn path(path: &AssignedPath, naming: &Naming) -> braid_api::AssignedPath {
    let AssignedPath { switches, available_bps, round_trip_us, best_streams, streams } = path;
    braid_api::AssignedPath {
        switches: switches.clone(),
        switch_names: naming.names.path_labels(switches),
        available_bps: *available_bps,
        round_trip_us: *round_trip_us,
        best_streams: *best_streams,
        streams: *streams,
    }
}

/// A stream that has a path.
pub(in crate::http) fn placed(placed: PlacedView) -> PlacedStream {
    let PlacedView { stream, path, switches } = placed;
    PlacedStream { stream: stream.0, path, switches }
}
