//! Intents in etcd: a key for each, and the owner of all.

use braid_cluster::{Entries, IntentAnswer, IntentRequest, IntentView, MemberId, RunId};
use braid_types::Term;
use serde_json::{Value, json};

use super::super::json::{
    has_revision, has_value, leader_value, pair, pairs_of, put, range, range_of, remove, succeeded,
    written_revision,
};
use super::Etcd;

/// The keys of intents begin so; the owner is beside them.
const KEYS: &str = "assignments/";
/// What is behind them all: '0' follows '/'.
const END: &str = "assignments0";
const OWNER: &str = "assignments-owner";

/// A run of a member, as its record of leadership names it.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct Writer {
    pub(in crate::cluster) member: MemberId,
    pub(in crate::cluster) run: RunId,
}

impl Etcd {
    /// Does what the leader asks about intents, of which it reads this many; `None` if nobody answers.
    pub(in crate::cluster) fn intents(
        &mut self,
        writer: &Writer,
        request: IntentRequest,
        limit: usize,
    ) -> Option<IntentAnswer> {
        let owner = self.key(OWNER);
        match request {
            IntentRequest::Read => {
                let all = range_of(&self.key(KEYS), &self.key(END), limit);
                let answer = self.call("kv/txn", &json!({ "success": [range(&owner), all] })).ok()?;
                Some(IntentAnswer::View(self.view_of_intents(&answer)))
            }
            IntentRequest::Write { term, revision, changes } => {
                let leads = has_value(&self.key("leader"), &leader_value(&writer.member, writer.run, term));
                let compare = json!([leads, has_revision(&owner, revision)]);
                let changes = changes.iter().map(|(key, value)| self.change(key, value.as_deref()));
                let all: Vec<_> = std::iter::once(put(&owner, &term.to_string())).chain(changes).collect();
                let answer = self.call("kv/txn", &json!({ "compare": compare, "success": all })).ok()?;
                let written = if succeeded(&answer) { Some(written_revision(&answer)?) } else { None };
                Some(written.map_or(IntentAnswer::Refused, IntentAnswer::Written))
            }
        }
    }

    fn change(&self, key: &str, value: Option<&str>) -> Value {
        let key = self.key(&format!("{KEYS}{key}"));
        value.map_or_else(|| remove(&key), |value| put(&key, value))
    }

    fn view_of_intents(&self, answer: &Value) -> IntentView {
        // An owner that cannot be read is that of no term, and the next leader overwrites it.
        let owner = pair(answer, 0).map(|it| (Term(it.value.parse().unwrap_or_default()), it.revision));
        let start = self.key(KEYS);
        let entry = |it: super::super::json::Pair| Some((it.key.strip_prefix(&start)?.to_owned(), it.value));
        let entries: Entries = pairs_of(answer, 1).into_iter().filter_map(entry).collect();
        IntentView { owner, entries }
    }
}
