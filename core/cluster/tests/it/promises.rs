//! What API calls were answered for, and the laws about that.

use std::collections::BTreeMap;

use braid_cluster::{IntentEvent, IntentView};
use braid_types::Time;

use crate::node::{Call, Node};

/// What a client knows of something that it has asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Promise {
    /// It is asked for.
    Asked,
    Kept,
    Removed,
    /// A call was refused, or its removal has no answer so far; or it has ended by itself.
    Open,
}

/// Answers of all members, by key.
#[derive(Default)]
pub(crate) struct Promises {
    last: u64,
    by_key: BTreeMap<String, Promise>,
}

impl Promises {
    pub(crate) fn put(&mut self, node: &mut Node, local: Time) {
        self.last += 1;
        let key = format!("{:03}", self.last);
        if let Ok(id) = node.intents.put(local, key.clone(), "value".to_owned()) {
            node.brain.insert(key.clone(), "value".to_owned());
            node.calls.insert(id, Call::Put(key.clone()));
            self.by_key.insert(key, Promise::Asked);
        }
    }

    pub(crate) fn remove(&mut self, node: &mut Node, local: Time, choice: usize) {
        let waits = |key: &String| node.calls.values().any(|it| *it == Call::Put(key.clone()));
        let kept: Vec<_> = node.brain.keys().filter(|key| !waits(key)).cloned().collect();
        let Some(key) = kept.get(choice % kept.len().max(1)).cloned() else { return };
        if let Ok(id) = node.intents.remove(local, key.clone()) {
            node.calls.insert(id, Call::Remove(key.clone()));
            self.by_key.insert(key, Promise::Open);
        }
    }

    pub(crate) fn forget(&mut self, key: String) {
        self.by_key.insert(key, Promise::Open);
    }

    /// Takes what a member reports of intents.
    pub(crate) fn drain(&mut self, node: &mut Node) {
        while let Some(event) = node.intents.poll_event() {
            match event {
                IntentEvent::Restored(entries) => node.brain = entries,
                IntentEvent::Kept(id) => match node.calls.remove(&id) {
                    // The answer may be late: the next leader may have removed it meanwhile.
                    Some(Call::Put(key)) => {
                        let asked = self.by_key.get_mut(&key).filter(|it| **it == Promise::Asked);
                        asked.into_iter().for_each(|it| *it = Promise::Kept);
                    }
                    Some(Call::Remove(key)) => {
                        node.brain.remove(&key);
                        self.by_key.insert(key, Promise::Removed);
                    }
                    None => {}
                },
                IntentEvent::NotKept(id, _) => {
                    if let Some(Call::Put(key)) = node.calls.remove(&id) {
                        node.brain.remove(&key);
                    }
                }
            }
        }
    }

    /// What was answered holds at this leader.
    pub(crate) fn assert_held(&self, leader: &Node) {
        for (key, promise) in &self.by_key {
            match promise {
                Promise::Kept => assert!(leader.brain.contains_key(key), "{key} was promised, and is lost"),
                Promise::Removed => {
                    assert!(!leader.brain.contains_key(key), "{key} was removed, and is back");
                }
                Promise::Asked | Promise::Open => {}
            }
        }
    }

    /// The number of answers.
    pub(crate) fn answered(&self) -> usize {
        self.by_key.values().filter(|it| matches!(it, Promise::Kept | Promise::Removed)).count()
    }
}

/// The store has what the leader's brain has, and nothing else.
pub(crate) fn assert_same(leader: &Node, store: &IntentView) {
    assert_eq!(leader.brain, store.entries);
}
