//! Distribution of the streams of an assignment over its paths: the conditions of links, given to the planner.

use std::time::Duration;

use braid_assign::{Assignment, Claim, Plan, StreamModel};
use braid_paths::{Kind, Path};
use braid_planner::{LinkConditions, next_path, round_trip, stream_weights, useful_paths};
use braid_steering::{Group, Opening, Stream, Transfers};
use braid_topology::Link;
use braid_types::{BitsPerSec, DatapathId, SwitchPair};

use super::residual_load::carried;
use super::{Reservations, Sources, assignment_of, path_index};
use crate::context::Context;
use crate::fabric::is_whole;
use crate::request::{AssignedPath, AssignmentView};

/// The state of links for the owner of a claim.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'a> {
    reservations: &'a Reservations,
    on: Sources<'a>,
    claim: &'a Claim,
}

impl LinkConditions for Conditions<'_> {
    /// The rate left by all traffic except that of applications with assignments.
    fn left(&self, link: &Link) -> BitsPerSec {
        let state = self.on.topology.state_at(link.src).unwrap_or_default();
        let of_others = state.load.0.saturating_sub(self.reservations.announced_load(self.on, link));
        BitsPerSec(state.capacity.0.saturating_sub(of_others))
    }

    fn sharers(&self, link: &Link) -> usize {
        self.reservations.assignments.sharers(link, &self.claim.owner)
    }

    fn delay(&self, link: &Link) -> Option<Duration> {
        self.on.topology.state_at(link.src)?.delay
    }

    /// The model of the claim; else the one learned or known of the path; else the network's.
    fn model(&self, path: &Path) -> StreamModel {
        self.claim.model.unwrap_or_else(|| self.reservations.model_of(self.on, path))
    }
}

impl Reservations {
    /// The state of links for the owner of a claim.
    pub(super) const fn conditions<'a>(&'a self, on: Sources<'a>, claim: &'a Claim) -> Conditions<'a> {
        Conditions { reservations: self, on, claim }
    }

    /// Up to as many paths as requested, those that add most to the total capacity, shortest first.
    pub(super) fn useful_paths(
        &self,
        cx: &mut Context<'_>,
        streams: &Transfers,
        ends: SwitchPair,
        claim: &Claim,
    ) -> Vec<Path> {
        if ends.src == ends.dst {
            return Vec::new();
        }
        let now = cx.now;
        let sources = Sources { settings: cx.settings, topology: cx.topology, streams };
        useful_paths(&self.conditions(sources, claim), claim.paths, |k| {
            let set = cx.paths.of_kind(Kind::KShortest, k, ends);
            cx.paths.conditions(now).usable(&set).cloned().collect()
        })
    }

    /// The path of an announced stream, and how many links it shares with its transfer's others; `None` for other
    /// streams, and where no path of its assignment is left.
    pub(crate) fn distribute(
        &self,
        on: Sources<'_>,
        stream: &Stream,
        src: DatapathId,
        is_usable: impl Fn(&Path) -> bool,
    ) -> Option<(Path, usize)> {
        let assignment = assignment_of(&self.assignments, stream)?;
        let siblings: Vec<&Path> = on
            .streams
            .siblings(stream)
            .filter_map(|sibling| sibling.route.as_ref().map(|route| &route.forward))
            .collect();
        let mut held = vec![0; assignment.paths.len()];
        siblings.iter().filter_map(|path| path_index(assignment, path)).for_each(|index| held[index] += 1);
        let weights = self.weights(on, assignment).weights;
        let is_left = |path: &Path| is_whole(on.topology, path) && is_usable(path);
        let index = next_path(assignment.claim.distribution, weights, &held, |index| {
            assignment.paths.get(index).is_some_and(is_left)
        })?;
        let path = assignment.paths.get(index)?;
        let path = if path.ingress() == src { path.clone() } else { path.reversed() };
        let shared = siblings.iter().map(|sibling| path.shared_links(sibling)).sum();
        Some((path, shared))
    }

    /// In which proportion streams are distributed now.
    fn weights(&self, on: Sources<'_>, assignment: &Assignment) -> Plan {
        let claim = &assignment.claim;
        let conditions = self.conditions(on, claim);
        stream_weights(&conditions, claim.distribution, &assignment.paths, claim.streams)
    }

    /// What a path can carry beside the others of its assignment, in bits a second.
    pub(super) fn available(&self, on: Sources<'_>, assignment: &Assignment, index: usize) -> f64 {
        self.weights(on, assignment).rates.get(index).copied().unwrap_or_default()
    }

    /// How many streams a path can use, as it was learned or is known of it, or else of the network.
    fn model_of(&self, on: Sources<'_>, path: &Path) -> StreamModel {
        let models = &on.settings.path_models;
        let switches: Vec<_> = path.switches().collect();
        let back = || models.get(&switches.iter().rev().copied().collect::<Vec<_>>());
        let known = || models.get(&switches).or_else(back).copied();
        self.learned(path).or_else(known).unwrap_or(on.settings.stream_model)
    }

    /// What announced streams carry over a link, or did a moment ago.
    fn announced_load(&self, on: Sources<'_>, link: &Link) -> u64 {
        let announced =
            on.streams.streams().filter(|it| matches!(it.opening, Opening::Parallel(Group::Announced(_))));
        let rates = announced.filter_map(|stream| carried(link, stream.route.as_ref()?, stream.rates));
        rates.sum::<u64>().saturating_add(self.residual.on(link))
    }

    /// An assignment as it is now.
    pub(crate) fn view(&self, on: Sources<'_>, assignment: &Assignment) -> AssignmentView {
        let Plan { weights, rates } = self.weights(on, assignment);
        let group = on.streams.of_group(Group::Announced(assignment.id.0));
        let members = group.into_iter().flat_map(|transfer| &transfer.streams);
        let routes = members.filter_map(|id| on.streams.stream(*id)?.route.as_ref());
        let mut held = vec![0; assignment.paths.len()];
        routes.filter_map(|route| path_index(assignment, &route.forward)).for_each(|index| held[index] += 1);
        let conditions = self.conditions(on, &assignment.claim);
        let path = |(index, path): (usize, &Path)| AssignedPath {
            switches: path.switches().collect(),
            available_bps: rates[index] as u64,
            round_trip_us: round_trip(&conditions, path).as_nanos() as f64 / 1e3,
            best_streams: weights[index],
            streams: held[index],
        };
        AssignmentView {
            id: assignment.id,
            owner: assignment.claim.owner.clone(),
            src: assignment.claim.src,
            dst: assignment.claim.dst,
            wanted: assignment.claim.paths,
            expected_streams: assignment.claim.streams,
            distribution: assignment.claim.distribution,
            opened_at: assignment.opened_at,
            expires_at: assignment.expires_at,
            placed: assignment.placed,
            paths: assignment.paths.iter().enumerate().map(path).collect(),
        }
    }
}
