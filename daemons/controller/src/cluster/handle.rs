//! The member as API clients see it, on the engine's thread.

use std::cell::RefCell;
use std::rc::Rc;

use braid_api::{self as api, Schema};
use braid_cluster::{HandOverError, MemberId, TakeOverError};
use braid_control::{Reply, Request};
use braid_types::Term;
use tokio::sync::{Notify, oneshot};

use super::policy::{Loaded, Wanted};
use super::task::Cluster;

/// The member of this controller, shared with the task that keeps it.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(super) cluster: Rc<RefCell<Cluster>>,
    /// Notified when the member has something to send.
    pub(super) woken: Rc<Notify>,
}

impl Handle {
    /// What the member knows of the cluster.
    pub(crate) fn view(&self) -> api::Cluster {
        let cluster = self.cluster.borrow();
        let (now, member) = (cluster.now(), &cluster.member);
        let leader = member.leader(now);
        let own = (&cluster.local.hello.member, &cluster.address);
        let others = cluster.peers.iter().map(|(id, (address, _))| (id, address));
        let mut members: Vec<_> = others.chain([own]).collect();
        members.sort_unstable();
        let members = members.into_iter().map(|(id, address)| api::ClusterMember {
            name: id.to_string(),
            address: address.clone(),
            last_heard: member.last_heard(id),
            following: cluster.following(id),
            switches_reached: member.reach(now, id).map(|it| it.switches),
            switches_relayed: cluster.relayed(id),
        });
        api::Cluster {
            schema: Schema,
            now,
            name: Some(cluster.local.hello.cluster.clone()),
            member: Some(cluster.local.hello.member.to_string()),
            leader: leader.as_ref().map(|(leader, _)| leader.to_string()),
            term: leader.map(|(_, term)| term.0),
            newest_term: member.newest().0,
            store_answers: member.store_answers(),
            facts: cluster.facts(),
            stepped_aside: cluster.stepped_aside,
            members: members.collect(),
        }
    }

    /// Passes on what an API client asks for. What it is promised is in the store before it has its answer.
    pub(crate) fn ask(&self, request: Request, answer: oneshot::Sender<Reply>) {
        let mut cluster = self.cluster.borrow_mut();
        match request {
            Request::Assign(claim) => cluster.assignments.assign(claim, answer),
            Request::Release { assignment, owner } => {
                cluster.assignments.release(assignment, owner, answer);
            }
            other => return cluster.ask(other, answer),
        }
        self.woken.notify_one();
    }

    /// Has a policy kept for all members, which then apply it.
    pub(crate) fn load_policy(&self, text: String, answer: oneshot::Sender<Loaded>) {
        // A thread that has ended takes the answer with it.
        let _ = self.cluster.borrow().policies.send(Wanted { text, answer });
    }

    /// Raises the term above those of controllers outside the cluster that switches have reported. Returns the new one.
    pub(crate) fn take_over(&self) -> Result<Term, TakeOverError> {
        let mut cluster = self.cluster.borrow_mut();
        let above = cluster.foreign_term();
        let now = cluster.now();
        let claimed = cluster.member.take_over(now, above);
        self.woken.notify_one();
        claimed
    }

    /// Asks a standby to lead in the place of this member.
    pub(crate) fn hand_over(&self, to: Option<&MemberId>) -> Result<MemberId, HandOverError> {
        let mut cluster = self.cluster.borrow_mut();
        let now = cluster.now();
        let asked = cluster.member.hand_over(now, to);
        self.woken.notify_one();
        asked
    }
}
