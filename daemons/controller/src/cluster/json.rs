//! The store's requests and answers as JSON of etcd's gateway: keys and values in Base64, numbers as strings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use braid_cluster::{LeaderRecord, LeaseId, MemberId, RunId, StoreView};
use braid_types::Term;
use serde_json::{Value, json};

/// A key or value in Base64.
pub(super) fn encode(text: &str) -> String {
    STANDARD.encode(text)
}

pub(super) fn range(key: &str) -> Value {
    json!({ "requestRange": { "key": encode(key) } })
}

/// All keys from this one to before that one, but no more than this.
pub(super) fn range_of(key: &str, end: &str, limit: usize) -> Value {
    let (key, range_end) = (encode(key), encode(end));
    json!({ "requestRange": { "key": key, "rangeEnd": range_end, "limit": limit.to_string() } })
}

pub(super) fn remove(key: &str) -> Value {
    json!({ "requestDeleteRange": { "key": encode(key) } })
}

pub(super) fn put(key: &str, value: &str) -> Value {
    json!({ "requestPut": { "key": encode(key), "value": encode(value) } })
}

pub(super) fn put_leased(key: &str, value: &str, lease: LeaseId) -> Value {
    let (key, value) = (encode(key), encode(value));
    json!({ "requestPut": { "key": key, "value": value, "lease": lease.0.to_string() } })
}

/// The condition that a key does not exist.
pub(super) fn is_absent(key: &str) -> Value {
    json!({ "key": encode(key), "target": "CREATE", "result": "EQUAL", "createRevision": "0" })
}

/// The condition that a key has this value.
pub(super) fn has_value(key: &str, value: &str) -> Value {
    json!({ "key": encode(key), "target": "VALUE", "result": "EQUAL", "value": encode(value) })
}

/// The condition that a key was changed last in this revision.
pub(super) fn has_revision(key: &str, revision: u64) -> Value {
    json!({ "key": encode(key), "target": "MOD", "result": "EQUAL", "modRevision": revision.to_string() })
}

/// The condition that a key exists and this lease holds it.
pub(super) fn has_lease(key: &str, lease: LeaseId) -> Value {
    json!({ "key": encode(key), "target": "LEASE", "result": "EQUAL", "lease": lease.0.to_string() })
}

/// Whether a transaction's conditions held. etcd leaves out what is false.
pub(super) fn succeeded(answer: &Value) -> bool {
    answer["succeeded"].as_bool().unwrap_or_default()
}

/// The revision in which a transaction has written.
pub(super) fn written_revision(answer: &Value) -> Option<u64> {
    number(&answer["header"]["revision"])
}

/// A key with its value.
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) revision: u64,
    lease: u64,
}

/// The first pair of the range with this index among a transaction's answers.
pub(super) fn pair(answer: &Value, index: usize) -> Option<Pair> {
    answer["responses"].get(index)?["response_range"]["kvs"].get(0).and_then(read_pair)
}

/// All pairs of the range with this index among a transaction's answers.
pub(super) fn pairs_of(answer: &Value, index: usize) -> Vec<Pair> {
    answer["responses"].get(index).map(|it| pairs(&it["response_range"])).unwrap_or_default()
}

/// All pairs of a range.
pub(super) fn pairs(answer: &Value) -> Vec<Pair> {
    answer["kvs"].as_array().into_iter().flatten().filter_map(read_pair).collect()
}

fn read_pair(pair: &Value) -> Option<Pair> {
    let (key, value) = (text(&pair["key"])?, text(&pair["value"]).unwrap_or_default());
    Some(Pair {
        key,
        value,
        revision: number(&pair["mod_revision"])?,
        lease: number(&pair["lease"]).unwrap_or(0),
    })
}

fn text(encoded: &Value) -> Option<String> {
    String::from_utf8(STANDARD.decode(encoded.as_str()?).ok()?).ok()
}

pub(super) fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

/// The leader's value: its term, run and name.
pub(super) fn leader_value(member: &MemberId, run: RunId, term: Term) -> String {
    format!("{term} {:016x} {member}", run.0)
}

/// Both keys, from the ranges of a transaction.
pub(super) fn view(answer: &Value) -> StoreView {
    // A term that cannot be read is that of no leader, and the next one overwrites it.
    let term = pair(answer, 0).map(|it| (Term(it.value.parse().unwrap_or_default()), it.revision));
    StoreView { term, leader: pair(answer, 1).as_ref().and_then(leader) }
}

/// The leader that a pair names, if it can be read.
pub(super) fn leader(pair: &Pair) -> Option<LeaderRecord> {
    let (term, rest) = pair.value.split_once(' ')?;
    let (run, member) = rest.split_once(' ')?;
    let (term, lease) = (Term(term.parse().ok()?), LeaseId(pair.lease));
    let run = RunId(u64::from_str_radix(run, 16).ok()?);
    Some(LeaderRecord { member: MemberId::new(member), run, term, lease })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_keys_are_read_as_etcd_writes_them() {
        let kv = |value: &str, lease: &str| {
            json!({ "key": "aw==", "create_revision": "4", "mod_revision": "9", "version": "1",
                "value": encode(value), "lease": lease })
        };
        let (member, run) = (MemberId::new("a b"), RunId(10));
        let answer = json!({ "succeeded": true, "responses": [
            { "response_range": { "kvs": [kv("65537", "0")], "count": "1" } },
            { "response_range": { "kvs": [kv(&leader_value(&member, run, Term(65_537)), "77")], "count": "1" } },
        ]});
        let leader = LeaderRecord { member, run, term: Term(65_537), lease: LeaseId(77) };
        let expected = StoreView { term: Some((Term(65_537), 9)), leader: Some(leader) };
        assert_eq!(view(&answer), expected);
        let empty =
            json!({ "succeeded": true, "responses": [{ "response_range": {} }, { "response_range": {} }] });
        assert_eq!(view(&empty), StoreView::default());
        assert!(succeeded(&answer) && !succeeded(&json!({})));
    }
}
