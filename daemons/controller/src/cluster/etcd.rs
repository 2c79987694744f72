//! A client of etcd over its JSON gateway; one request at a time.

use std::time::Duration;

use braid_cluster::{MemberId, StoreAnswer, StoreRequest};
use serde_json::{Value, json};
use ureq::Agent;

use super::json::{
    has_revision, is_absent, leader_value, number, pair, pairs, put, put_leased, range, succeeded, view,
};

/// The time that a request may take at one of several servers.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

/// etcd, and the keys of one cluster in it.
#[derive(Clone, Debug)]
pub(super) struct Etcd {
    agent: Agent,
    endpoints: Vec<String>,
    /// The server that answered last.
    current: usize,
    prefix: String,
}

/// A request that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum EtcdError {
    /// No server answers.
    #[error("{0}")]
    Unreachable(String),
    /// A server refuses the request.
    #[error("{0}")]
    Refused(String),
}

impl Etcd {
    pub(super) fn new(endpoints: &[String], cluster: &str) -> Self {
        let config =
            Agent::config_builder().timeout_global(Some(REQUEST_TIMEOUT)).http_status_as_error(false).build();
        let prefix = format!("/braid/{cluster}/");
        Self { agent: config.new_agent(), endpoints: endpoints.to_vec(), current: 0, prefix }
    }

    /// Does what a member asks; `None` if nobody answers, or etcd cannot do it now.
    pub(super) fn answer(&mut self, member: &MemberId, request: StoreRequest) -> Option<StoreAnswer> {
        let keys = [self.key("term"), self.key("leader")];
        let read = json!([range(&keys[0]), range(&keys[1])]);
        match request {
            StoreRequest::Read => {
                let answer = self.call("kv/txn", &json!({ "success": read })).ok()?;
                Some(StoreAnswer::View(view(&answer)))
            }
            StoreRequest::Grant { lease, ttl } => {
                let body = json!({ "ID": lease.0.to_string(), "TTL": ttl.as_secs().max(1).to_string() });
                done(self.call("lease/grant", &body), "lease already exists")
            }
            StoreRequest::KeepAlive { lease } => {
                let answer = self.call("lease/keepalive", &json!({ "ID": lease.0.to_string() })).ok()?;
                let lasts = number(&answer["result"]["TTL"]).is_some_and(|ttl| ttl > 0);
                Some(if lasts { StoreAnswer::Done } else { StoreAnswer::NoLease })
            }
            StoreRequest::Revoke { lease } => {
                done(self.call("lease/revoke", &json!({ "ID": lease.0.to_string() })), "lease not found")
            }
            StoreRequest::Campaign { lease, term, term_revision } => {
                let compare = json!([is_absent(&keys[1]), has_revision(&keys[0], term_revision)]);
                let leader = put_leased(&keys[1], &leader_value(member, term), lease);
                let success = json!([put(&keys[0], &term.to_string()), leader]);
                let body = json!({ "compare": compare, "success": success, "failure": read });
                match self.call("kv/txn", &body) {
                    Ok(answer) if succeeded(&answer) => Some(StoreAnswer::Won),
                    Ok(answer) => Some(StoreAnswer::View(view(&answer))),
                    Err(EtcdError::Refused(why)) if why.contains("lease not found") => {
                        Some(StoreAnswer::NoLease)
                    }
                    Err(_) => None,
                }
            }
        }
    }

    /// Sets a key of the cluster.
    pub(super) fn put(&mut self, key: &str, value: &str) -> Result<(), EtcdError> {
        let body = json!({ "success": [put(&self.key(key), value)] });
        self.call("kv/txn", &body).map(drop)
    }

    /// The value of a key of the cluster, if it exists.
    pub(super) fn read(&mut self, key: &str) -> Result<Option<String>, EtcdError> {
        let answer = self.call("kv/txn", &json!({ "success": [range(&self.key(key))] }))?;
        Ok(pair(&answer, 0).map(|it| it.value))
    }

    /// The value of a key of the cluster, which is created if it does not exist.
    pub(super) fn create_or_read(&mut self, key: &str, value: &str) -> Result<String, EtcdError> {
        let key = self.key(key);
        let (compare, success) = (json!([is_absent(&key)]), json!([put(&key, value)]));
        let body = json!({ "compare": compare, "success": success, "failure": [range(&key)] });
        let answer = self.call("kv/txn", &body)?;
        if succeeded(&answer) {
            return Ok(value.to_owned());
        }
        pair(&answer, 0).map(|it| it.value).ok_or_else(|| EtcdError::Refused(format!("{key} is unreadable")))
    }

    /// The addresses of members, by name.
    pub(super) fn members(&mut self) -> Result<Vec<(String, String)>, EtcdError> {
        let start = self.key("members/");
        // The range ends before the next prefix: '0' follows '/'.
        let end = self.key("members0");
        let (key, range_end) = (super::json::encode(&start), super::json::encode(&end));
        let answer = self.call("kv/range", &json!({ "key": key, "range_end": range_end }))?;
        let name = |key: &str| key.strip_prefix(&start).map(str::to_owned);
        Ok(pairs(&answer).into_iter().filter_map(|it| Some((name(&it.key)?, it.value))).collect())
    }

    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Asks the servers in turn, beginning with the one that answered last.
    fn call(&mut self, method: &str, body: &Value) -> Result<Value, EtcdError> {
        let body = body.to_string();
        let mut last = EtcdError::Unreachable("it has no address".to_owned());
        for _ in 0..self.endpoints.len() {
            let Some(endpoint) = self.endpoints.get(self.current) else { break };
            match self.call_one(&format!("http://{endpoint}/v3/{method}"), &body) {
                Err(EtcdError::Unreachable(why)) => last = EtcdError::Unreachable(why),
                other => return other,
            }
            self.current = (self.current + 1) % self.endpoints.len();
        }
        Err(last)
    }

    fn call_one(&self, url: &str, body: &str) -> Result<Value, EtcdError> {
        let unreachable = |error: ureq::Error| EtcdError::Unreachable(error.to_string());
        let mut response = self.agent.post(url).send(body).map_err(unreachable)?;
        let text = response.body_mut().read_to_string().map_err(unreachable)?;
        let answer: Value =
            serde_json::from_str(&text).map_err(|error| EtcdError::Unreachable(error.to_string()))?;
        match answer["error"].as_str() {
            None => Ok(answer),
            // Without a quorum another server may do it.
            Some(why) if why.contains("lease") => Err(EtcdError::Refused(why.to_owned())),
            Some(why) => Err(EtcdError::Unreachable(why.to_owned())),
        }
    }
}

/// Done, also if it was done before.
fn done(answer: Result<Value, EtcdError>, before: &str) -> Option<StoreAnswer> {
    match answer {
        Ok(_) => Some(StoreAnswer::Done),
        Err(EtcdError::Refused(why)) if why.contains(before) => Some(StoreAnswer::Done),
        Err(_) => None,
    }
}
