//! The adviser trait, and its form that asks a controller over HTTP.

use std::time::Duration;

use braid_steering::{Advice, AdviceRequest};
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

/// Far more than advice for one connection takes.
const MOST_BYTES: u64 = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(2);

/// Who knows which subflows a connection should have.
pub trait Adviser: Send {
    /// Advice for one connection; the rules of its subflows are in place.
    ///
    /// # Errors
    ///
    /// There is no answer, or none that can be read.
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, AdviceError>;
}

/// Why there is no advice.
#[derive(Debug, thiserror::Error)]
pub enum AdviceError {
    /// The controller does not answer, or does not want to.
    #[error("the controller gives no advice: {0}")]
    Http(#[from] Box<ureq::Error>),
    /// It refuses.
    #[error("the controller refuses: {reason} (status {status})")]
    Refused {
        /// The status of its answer.
        status: u16,
        /// What it says.
        reason: String,
    },
    /// Its answer is no advice.
    #[error("the controller's advice cannot be read: {0}")]
    Answer(#[from] serde_json::Error),
}

/// A controller, asked over HTTP: `POST /api/v1/advice`.
#[derive(Debug)]
pub struct Controller {
    agent: ureq::Agent,
    url: String,
    authorization: Option<String>,
}

impl Controller {
    /// The one at `url`, such as `http://127.0.0.1:8653`; `token` tells it who asks.
    #[must_use]
    pub fn new(url: &str, token: Option<&str>) -> Self {
        Self::with(url, token, ureq::Agent::config_builder())
    }

    /// The same over TLS, by a URL that begins with `https`.
    #[must_use]
    pub fn over_tls(url: &str, token: Option<&str>, tls: ureq::tls::TlsConfig) -> Self {
        Self::with(url, token, ureq::Agent::config_builder().tls_config(tls))
    }

    fn with(url: &str, token: Option<&str>, agent: ConfigBuilder<AgentScope>) -> Self {
        // A proxy for the web does not lead to it.
        let agent =
            agent.proxy(None).timeout_global(Some(TIMEOUT)).http_status_as_error(false).build().into();
        let url = format!("{}/api/v1/advice", url.trim_end_matches('/'));
        Self { agent, url, authorization: token.map(|token| format!("Bearer {}", token.trim())) }
    }
}

impl Adviser for Controller {
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, AdviceError> {
        let body = serde_json::to_vec(request)?;
        let mut post = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(authorization) = &self.authorization {
            post = post.header("authorization", authorization);
        }
        let mut answer = post.send(&body).map_err(Box::new)?;
        let text = answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec().map_err(Box::new)?;
        match answer.status().as_u16() {
            200 => Ok(serde_json::from_slice(&text)?),
            status => Err(AdviceError::Refused { status, reason: reason(&text) }),
        }
    }
}

/// What a problem document says, or the beginning of whatever it is. RFC 9457.
fn reason(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Problem {
        detail: String,
    }
    match serde_json::from_slice(body) {
        Ok(Problem { detail }) => detail,
        Err(_) => String::from_utf8_lossy(body).chars().take(200).collect(),
    }
}
