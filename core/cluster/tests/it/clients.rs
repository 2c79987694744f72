//! API clients of the model, and what members ask of the store for them.

use std::time::Duration;

use braid_cluster::{IntentRequest, RequestId};

use crate::world::{End, Happening, Item, World};

/// What a run of a member asks of the store about intents.
pub(crate) struct Asked {
    member: usize,
    run: u32,
    id: RequestId,
    request: IntentRequest,
}

impl World {
    /// An API client asks this member to keep something new.
    pub(crate) fn put(&mut self, member: usize) {
        let node = &mut self.nodes[member];
        if node.runs() {
            self.promises.put(node, node.local(self.now));
            self.drain(member);
        }
    }

    /// An API client asks this member to forget something that its brain has.
    pub(crate) fn remove(&mut self, member: usize) {
        let choice = self.clients.below(4);
        let node = &mut self.nodes[member];
        if node.runs() {
            self.promises.remove(node, node.local(self.now), choice);
            self.drain(member);
        }
    }

    /// Something that this member's brain has ends by itself.
    pub(crate) fn expire(&mut self, member: usize) {
        let node = &mut self.nodes[member];
        if let Some((key, _)) = node.brain.pop_first() {
            self.promises.forget(key);
        }
    }

    /// Takes what a member reports of intents, and does what it asks for.
    pub(crate) fn drain_intents(&mut self, member: usize) {
        self.promises.drain(&mut self.nodes[member]);
        let run = self.nodes[member].run;
        while let Some((id, request)) = self.nodes[member].intents.poll_request() {
            if let Some(after) = self.intent_passes(End::Member(member), End::Store) {
                let asked = Asked { member, run, id, request };
                self.schedule(self.now + after, Happening::AskIntents(asked));
            }
        }
    }

    pub(crate) fn answer_intents(&mut self, Asked { member, run, id, request }: Asked) {
        let from = self.nodes[member].id.clone();
        let answer = self.store.handle_intents(self.now, &from, request);
        let passes = self.intent_passes(End::Store, End::Member(member));
        if let (Some(after), true) = (passes, answer.is_some()) {
            let (at, item) = (self.now + after + self.store.delay, Item::IntentAnswer { id, answer });
            self.schedule(at, Happening::To { member, run, item });
        }
    }

    /// As for other messages, and elections do not depend on it.
    fn intent_passes(&mut self, from: End, to: End) -> Option<Duration> {
        std::mem::swap(&mut self.random, &mut self.clients);
        let passes = self.passes(from, to);
        std::mem::swap(&mut self.random, &mut self.clients);
        passes
    }
}
