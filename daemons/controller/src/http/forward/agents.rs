//! The HTTP client that asks the leader, made anew when the authority of the members' APIs has changed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::cluster::ApiTrust;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Switches may have to confirm rules before the leader answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The client of the present authority, shared by all requests.
#[derive(Clone)]
pub(super) struct Agents {
    trust: Option<ApiTrust>,
    /// With the edition of the authority that it was made with.
    current: Arc<Mutex<(u64, Agent)>>,
}

impl Agents {
    pub(super) fn new(trust: Option<ApiTrust>) -> Self {
        let (edition, tls) = trust.as_ref().map(ApiTrust::current).unzip();
        let current = (edition.unwrap_or_default(), agent(tls));
        Self { trust, current: Arc::new(Mutex::new(current)) }
    }

    /// Whether the certificate of a leader's API can be checked.
    pub(super) const fn know_certificates(&self) -> bool {
        self.trust.is_some()
    }

    /// The client for one request. Reads files: not on a thread that others wait for.
    pub(super) fn current(&self) -> Agent {
        let now = self.trust.as_ref().map(ApiTrust::current);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((edition, tls)) = now.filter(|(edition, _)| *edition != current.0) {
            *current = (edition, agent(Some(tls)));
        }
        current.1.clone()
    }
}

fn agent(tls: Option<TlsConfig>) -> Agent {
    // A proxy for the web does not lead to the leader.
    let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).proxy(None);
    let config = config.timeout_connect(Some(CONNECT_TIMEOUT)).timeout_global(Some(ANSWER_TIMEOUT));
    let config = match tls {
        Some(tls) => config.tls_config(tls),
        None => config,
    };
    config.build().new_agent()
}
