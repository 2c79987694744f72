//! Requests and their answers.

use std::time::Duration;

use braid_api::{Problem, SCHEMA};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::config::ConfigBuilder;
use ureq::http::{Request, Response};
use ureq::typestate::AgentScope;
use ureq::{Agent, Body};

use crate::{Credentials, Error, Url};

/// A controller is near.
const TO_CONNECT: Duration = Duration::from_secs(5);
/// Bytes of an answer: hundreds of each of a hundred thousand hosts.
const MAX_ANSWER: u64 = 1 << 28;

/// How a client asks.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who it is, and whom it trusts.
    pub credentials: Credentials,
    /// How long it waits for an answer.
    pub timeout: Duration,
    /// The most bytes of an answer.
    pub max_answer: u64,
}

/// A client of one controller. It keeps its connections open.
#[derive(Debug)]
pub struct Client {
    url: Url,
    agent: Agent,
    max_answer: u64,
    /// For streams, which last as long as somebody reads them.
    patient: Agent,
}

impl Default for Options {
    fn default() -> Self {
        // Most answers are there at once; paths may have to be searched for, after those that others asked for.
        Self { credentials: Credentials::default(), timeout: Duration::from_secs(60), max_answer: MAX_ANSWER }
    }
}

impl Client {
    /// A client without credentials, which waits for so long for an answer.
    pub fn new(url: &Url, timeout: Duration) -> Self {
        let agent = |timeout| agent(config(&Credentials::default(), url, timeout));
        Self { url: url.clone(), agent: agent(Some(timeout)), max_answer: MAX_ANSWER, patient: agent(None) }
    }

    /// A client that asks so.
    ///
    /// # Errors
    ///
    /// The token cannot be sent.
    pub fn with(url: &Url, options: &Options) -> Result<Self, Error> {
        let Options { credentials, timeout, max_answer } = options;
        let agent = |timeout| {
            let config = config(credentials, url, timeout);
            let bearer = credentials.bearer()?;
            Ok::<_, Error>(agent(match bearer {
                Some(bearer) => config.middleware(bearer),
                None => config,
            }))
        };
        let (agent, patient) = (agent(Some(*timeout))?, agent(None)?);
        Ok(Self { url: url.clone(), agent, max_answer: *max_answer, patient })
    }

    /// The controller.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// What `GET /api/v1/{name}` answers.
    ///
    /// # Errors
    ///
    /// There is no answer, or it is none of these.
    pub fn get<T: DeserializeOwned>(&self, name: &str, query: &impl Serialize) -> Result<T, Error> {
        self.parse(&self.get_text(name, query)?)
    }

    /// The same as text.
    ///
    /// # Errors
    ///
    /// There is no answer.
    pub fn get_text(&self, name: &str, query: &impl Serialize) -> Result<String, Error> {
        let path = format!("/api/v1/{name}");
        let request = self.agent.get(self.url.of(&path)).query_pairs(pairs(query));
        let response = request.call().map_err(|error| Error::of_transport(&self.url, error))?;
        self.read(&path, response)
    }

    /// What `POST`, `PUT` or `DELETE` of an object to `/api/v1/{name}` answers.
    ///
    /// # Errors
    ///
    /// There is no answer, or it is none of these.
    pub fn submit<T: DeserializeOwned>(
        &self,
        method: &str,
        name: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let body =
            serde_json::to_string(body).map_err(|error| Error::failed(&self.url, error.to_string()))?;
        self.parse(&self.send(method, &format!("/api/v1/{name}"), &body)?)
    }

    /// Reads an answer.
    ///
    /// # Errors
    ///
    /// It is none of these.
    pub fn parse<T: DeserializeOwned>(&self, text: &str) -> Result<T, Error> {
        serde_json::from_str(text).map_err(|error| Error::foreign(&self.url, error))
    }

    /// Sends text to a path; the answer as text.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> Result<String, Error> {
        let request = Request::builder().method(method).uri(self.url.of(path));
        let response = match body {
            "" => self.agent.run(self.built(request.body(()))?),
            body => self.agent.run(self.built(request.body(body))?),
        };
        let response = response.map_err(|error| Error::of_transport(&self.url, error))?;
        self.read(path, response)
    }

    /// Opens a stream that goes on after the message `last`.
    pub(crate) fn open(&self, path: &str, last: &str) -> Result<Response<Body>, Error> {
        let request = self.patient.get(self.url.of(path)).header("Last-Event-ID", last);
        let response = request.call().map_err(|error| Error::of_transport(&self.url, error))?;
        match response.status().as_u16() {
            200 => Ok(response),
            _ => self.read(path, response).and(Err(Error::failed(&self.url, "that is no stream"))),
        }
    }

    fn built<T>(&self, request: Result<Request<T>, ureq::http::Error>) -> Result<Request<T>, Error> {
        request.map_err(|error| Error::failed(&self.url, error.to_string()))
    }

    fn read(&self, path: &str, mut response: Response<Body>) -> Result<String, Error> {
        let body = response.body_mut().with_config().limit(self.max_answer).read_to_string();
        let body = body.map_err(|error| Error::of_transport(&self.url, error))?;
        match (response.status().as_u16(), problem(&body)) {
            (200..=202, _) => Ok(body),
            (_, Some(problem)) => Err(Error::Refused { url: self.url.clone(), problem: problem.into() }),
            (404, None) => {
                let reason = format!("there is no {path}; is this a Braid controller?");
                Err(Error::failed(&self.url, reason))
            }
            (status, None) => Err(Error::failed(&self.url, format!("{} (status {status})", body.trim()))),
        }
    }
}

fn config(credentials: &Credentials, url: &Url, timeout: Option<Duration>) -> ConfigBuilder<AgentScope> {
    // A proxy for the web does not lead to it.
    let config = Agent::config_builder().http_status_as_error(false).proxy(None);
    let config = config.timeout_connect(Some(TO_CONNECT)).timeout_global(timeout);
    if url.is_encrypted() { config.tls_config(credentials.tls()) } else { config }
}

fn agent(config: ConfigBuilder<AgentScope>) -> Agent {
    config.build().new_agent()
}

/// Why a Braid controller refuses a request.
fn problem(body: &str) -> Option<Problem> {
    let value: Value = serde_json::from_str(body).ok()?;
    (value["schema"] == SCHEMA).then(|| serde_json::from_value(value).ok()).flatten()
}

/// The fields of an object as parameters, by name; a list is given item by item.
fn pairs(query: &impl Serialize) -> Vec<(String, String)> {
    let fields = serde_json::to_value(query).unwrap_or_default();
    let fields = fields.as_object().cloned().unwrap_or_default();
    let values = fields.into_iter().flat_map(|(name, value)| {
        let values = if let Value::Array(values) = value { values } else { vec![value] };
        values.into_iter().filter(|value| !value.is_null()).map(move |value| (name.clone(), value))
    });
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    values.map(|(name, value)| (name, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use braid_api::{PathsParameters, PortParameters};
    use braid_types::PortNo;

    use super::*;

    #[test]
    fn parameters_become_pairs_and_lists_several() {
        let pairs = |query: &dyn Fn() -> Vec<(String, String)>| {
            query().into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let port = PortParameters { dpid: "2a".parse().expect("an id"), port: PortNo(3) };
        assert_eq!(pairs(&|| super::pairs(&port)), ["dpid=000000000000002a", "port=3"]);
        let paths = PathsParameters {
            src: "a".to_owned(),
            dst: "b".to_owned(),
            without: vec!["1".to_owned(), "2:3".to_owned()],
            ..PathsParameters::default()
        };
        assert_eq!(pairs(&|| super::pairs(&paths)), ["dst=b", "src=a", "without=1", "without=2:3"]);
        assert!(super::pairs(&()).is_empty());
    }

    #[test]
    fn problems_are_those_of_braid_controllers() {
        let body = r#"{"schema":"braid/v1","type":"about:blank","title":"Not Found","status":404,"detail":"no",
            "code":"not_found","parameter":null}"#;
        assert_eq!(problem(body).map(|problem| problem.detail), Some("no".to_owned()));
        for other in ["", "<html>", r#"{"detail":"no"}"#] {
            assert_eq!(problem(other), None, "{other}");
        }
    }
}
