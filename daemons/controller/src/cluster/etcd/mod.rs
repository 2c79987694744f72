//! A client of etcd over its JSON gateway; one request at a time.

mod access;
mod failure;
mod intents;
mod session;
mod trust;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use braid_cluster::{MemberId, StoreAnswer, StoreRequest};
use serde_json::{Value, json};
use tracing::{debug, warn};
use ureq::Agent;
use ureq::http::HeaderValue;
use ureq::http::header::AUTHORIZATION;

use super::json::{
    has_lease, has_revision, is_absent, leader, leader_value, number, pair, pairs, put, put_leased, range,
    succeeded, view,
};
use super::stamps::Stamps;
use super::store_url::StoreUrl;
pub use access::{StoreAccess, StoreAccessError, StoreCredentials};
pub(super) use failure::EtcdError;
use failure::{LoginState, Server};
pub(super) use intents::Writer;
use session::Session;
pub use trust::ApiTrust;

/// The time that a request may take at one of several servers.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

/// etcd, and the keys of one cluster in it.
#[derive(Clone)]
pub(super) struct Etcd {
    agent: Agent,
    scheme: &'static str,
    endpoints: Vec<String>,
    /// The server that answered last.
    current: usize,
    prefix: String,
    store: StoreUrl,
    access: StoreAccess,
    /// What the files of `access` were when they were read.
    stamps: Stamps,
    /// Shared by all clones.
    session: Arc<Session>,
}

impl Etcd {
    pub(super) fn new(store: &StoreUrl, access: StoreAccess, cluster: &str) -> Self {
        Self {
            agent: agent(&access),
            scheme: if store.is_encrypted { "https" } else { "http" },
            endpoints: store.endpoints.clone(),
            current: 0,
            prefix: format!("/braid/{cluster}/"),
            store: store.clone(),
            stamps: Stamps::of(access.files.of_tls()),
            access,
            session: Arc::default(),
        }
    }

    /// Why the last request failed, if it did.
    pub(super) fn failure(&self) -> Option<String> {
        self.session.failure()
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
            StoreRequest::Campaign { replaced, lease, run, term, term_revision } => {
                let leads = replaced.map_or_else(|| is_absent(&keys[1]), |it| has_lease(&keys[1], it));
                let compare = json!([leads, has_revision(&keys[0], term_revision)]);
                let put_leader = put_leased(&keys[1], &leader_value(member, run, term), lease);
                let success = json!([put(&keys[0], &term.to_string()), put_leader]);
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

    /// What is wrong with the keys of the election, if something is.
    pub(super) fn check_election(&mut self) -> Result<Option<String>, EtcdError> {
        let keys = [self.key("term"), self.key("leader")];
        let answer = self.call("kv/txn", &json!({ "success": [range(&keys[0]), range(&keys[1])] }))?;
        let is_term = pair(&answer, 0).is_none_or(|it| it.value.parse::<u64>().is_ok());
        let is_leader = pair(&answer, 1).is_none_or(|it| leader(&it).is_some());
        let [term, leader] = keys;
        Ok((!is_term).then_some(term).or_else(|| (!is_leader).then_some(leader)))
    }

    /// The records of members, by name.
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
        self.renew_access();
        let body = body.to_string();
        let mut last = EtcdError::Unreachable("it has no address".to_owned());
        for _ in 0..self.endpoints.len() {
            let Some(endpoint) = self.endpoints.get(self.current) else { break };
            match self.call_one(endpoint, method, &body) {
                Err(error @ EtcdError::Denied(_)) => last = error,
                Err(error @ EtcdError::Unreachable(_)) => {
                    // A server that does not answer says less than one that has refused this member.
                    last = if matches!(last, EtcdError::Denied(_)) { last } else { error };
                }
                other => {
                    self.session.note_failure(None);
                    return other;
                }
            }
            self.current = (self.current + 1) % self.endpoints.len();
        }
        self.session.note_failure(Some(last.to_string()));
        Err(last)
    }

    /// Reads certificates again that have changed, for new connections. Files that cannot be used change nothing.
    fn renew_access(&mut self) {
        let now = Stamps::of(self.access.files.of_tls());
        if now == self.stamps {
            return;
        }
        self.stamps = now;
        match StoreAccess::read(&self.store, self.access.files.clone()) {
            Ok(access) => {
                debug!("certificates for etcd were read again");
                (self.agent, self.access) = (agent(&access), access);
            }
            Err(why) => warn!(%why, "certificates for etcd have changed, and the old ones stay in use"),
        }
    }

    /// Asks one server, and logs in first where it asks for that.
    fn call_one(&self, endpoint: &str, method: &str, body: &str) -> Result<Value, EtcdError> {
        let server = Server { endpoint, access: &self.access, prefix: &self.prefix };
        let mut answer = self.post(server, method, body)?;
        let asks = |answer: &Value| answer["error"].as_str().map(LoginState::of) == Some(LoginState::Needed);
        if self.access.login.is_some() && asks(&answer) {
            self.log_in(server)?;
            answer = self.post(server, method, body)?;
        }
        match answer["error"].as_str() {
            None => Ok(answer),
            Some(why) => Err(server.refused(why)),
        }
    }

    /// Gets a token for the requests that follow.
    fn log_in(&self, server: Server<'_>) -> Result<(), EtcdError> {
        let Some(login) = &self.access.login else { return Ok(()) };
        let password = login.password().map_err(|error| EtcdError::Denied(error.to_string()))?;
        self.session.forget(self.session.token().as_ref());
        let body = json!({ "name": login.user, "password": password }).to_string();
        let answer = self.post(server, "auth/authenticate", &body)?;
        match (answer["token"].as_str(), answer["error"].as_str()) {
            (Some(token), None) => self.session.note_token(token),
            (_, Some(why)) => Err(server.refused(why)),
            (None, None) => Err(server.foreign("")),
        }
    }

    fn post(&self, server: Server<'_>, method: &str, body: &str) -> Result<Value, EtcdError> {
        let token = self.session.token();
        let answer = self.send(server, method, Message { body, token: token.as_ref() });
        if matches!(answer, Err(EtcdError::Unreachable(_))) {
            // An etcd that was wiped or restored waits for the revision that is in a token of before, and answers nothing.
            self.session.forget(token.as_ref());
        }
        answer
    }

    fn send(&self, server: Server<'_>, method: &str, message: Message<'_>) -> Result<Value, EtcdError> {
        let Message { body, token } = message;
        let failed = |error: ureq::Error| server.failed(&error);
        let mut request = self.agent.post(format!("{}://{}/v3/{method}", self.scheme, server.endpoint));
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token);
        }
        let mut response = request.send(body).map_err(failed)?;
        let text = response.body_mut().read_to_string().map_err(failed)?;
        serde_json::from_str(&text).map_err(|_| server.foreign(&text))
    }
}

fn agent(access: &StoreAccess) -> Agent {
    // A proxy for the web does not lead to it.
    let config = Agent::config_builder().http_status_as_error(false).proxy(None);
    let config = config.timeout_global(Some(REQUEST_TIMEOUT));
    let config = match &access.tls {
        Some(tls) => config.tls_config(tls.clone()),
        None => config,
    };
    config.build().new_agent()
}

/// What is sent to a server.
struct Message<'a> {
    body: &'a str,
    token: Option<&'a HeaderValue>,
}

/// Without keys, passwords and tokens.
impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd").field("endpoints", &self.endpoints).field("access", &self.access).finish()
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

#[cfg(test)]
mod tests;
