//! HTTP requests to a controller, and explanations of failures.

mod credentials;

use std::io::{BufRead, BufReader, ErrorKind};
use std::time::Duration;

use ureq::http::{Request, Response};
use ureq::{Agent, Body, Error, Timeout};

use crate::exit::{self, Code};
use credentials::Bearer;
pub(crate) use credentials::tls;

/// A controller is near.
const TO_CONNECT: Duration = Duration::from_secs(5);
/// Most answers are there at once; paths may have to be searched for, after those that others asked for.
const TO_ANSWER: Duration = Duration::from_secs(60);
/// Bytes of an answer: hundreds of each of a hundred thousand hosts.
const MAX_ANSWER: u64 = 1 << 28;

/// What the controller at `url` answers when asked for `path` with these parameters.
pub(super) fn get(url: &str, path: &str, parameters: &[(&str, String)]) -> anyhow::Result<String> {
    let request = agent(url, Some(TO_ANSWER))?.get(format!("{url}{path}"));
    let request = request.query_pairs(parameters.iter().map(|(name, value)| (*name, value.as_str())));
    read(url, path, request.call())
}

/// The same where something is to be done.
pub(super) fn post(url: &str, path: &str, parameters: &[(&str, String)]) -> anyhow::Result<String> {
    let request = agent(url, Some(TO_ANSWER))?.post(format!("{url}{path}"));
    let request = request.query_pairs(parameters.iter().map(|(name, value)| (*name, value.as_str())));
    read(url, path, request.send_empty())
}

/// The same where something is handed over.
pub(super) fn put(url: &str, path: &str, text: &str) -> anyhow::Result<String> {
    read(url, path, agent(url, Some(TO_ANSWER))?.put(format!("{url}{path}")).send(text))
}

/// A stream of server-sent events that goes on after the event `last`.
pub(super) fn stream(url: &str, path: &str, last: &str) -> anyhow::Result<impl BufRead + use<>> {
    let request = agent(url, None)?.get(format!("{url}{path}")).header("Last-Event-ID", last);
    let response = request.call().map_err(|error| explain(url, error))?;
    if response.status().as_u16() == 200 {
        return Ok(BufReader::new(response.into_body().into_reader()));
    }
    Err(read(url, path, Ok(response)).err().unwrap_or_else(|| failure(url, "that is no stream")))
}

/// What the controller answers to an object that is sent to it.
pub(super) fn send(url: &str, method: &str, path: &str, body: &str) -> anyhow::Result<String> {
    let request = Request::builder().method(method).uri(format!("{url}{path}")).body(body);
    let request = request.map_err(|error| failure(url, &error.to_string()))?;
    read(url, path, agent(url, Some(TO_ANSWER))?.run(request))
}

/// `whole`: the time for a question and its answer.
fn agent(url: &str, whole: Option<Duration>) -> anyhow::Result<Agent> {
    // A proxy for the web does not lead to it.
    let config = Agent::config_builder().http_status_as_error(false).proxy(None);
    let config = config.timeout_connect(Some(TO_CONNECT)).timeout_global(whole);
    let config = match Bearer::from_environment()? {
        Some(bearer) => config.middleware(bearer),
        None => config,
    };
    let config = if url.starts_with("https:") { config.tls_config(tls()?) } else { config };
    Ok(config.build().new_agent())
}

fn read(url: &str, path: &str, response: Result<Response<Body>, Error>) -> anyhow::Result<String> {
    let mut response = response.map_err(|error| explain(url, error))?;
    let body = response.body_mut().with_config().limit(MAX_ANSWER).read_to_string();
    let body = body.map_err(|error| explain(url, error))?;
    let status = response.status().as_u16();
    match (status, refusal(&body)) {
        (200..=202, _) => Ok(body),
        (404, Some(refusal)) => Err(exit::error(Code::NotFound, refusal)),
        (400, Some(refusal)) => Err(exit::error(Code::Usage, refusal)),
        (404, None) => Err(failure(url, &format!("there is no {path}; is this a Braid controller?"))),
        (status, refusal) => {
            let reason = refusal.unwrap_or_else(|| body.trim().to_owned());
            Err(failure(url, &format!("{reason} (status {status})")))
        }
    }
}

/// Why a Braid controller does not answer a question.
fn refusal(body: &str) -> Option<String> {
    let refusal: Refusal = serde_json::from_str(body).ok()?;
    (refusal.schema == "braid/v1").then_some(refusal.detail)
}

#[derive(serde::Deserialize)]
struct Refusal {
    schema: String,
    detail: String,
}

fn explain(url: &str, error: Error) -> anyhow::Error {
    let nobody = is_nobody(&error);
    let reason = match error {
        Error::Io(error) => error.to_string(),
        Error::Timeout(_) if !nobody => format!("it has not answered for {} s", TO_ANSWER.as_secs()),
        error => error.to_string(),
    };
    if !nobody {
        return failure(url, &reason);
    }
    let advice = "start one with `braid controller run`, or name another with --controller";
    exit::error(Code::NotFound, format!("no controller answers at {url}: {reason}; {advice}"))
}

fn failure(url: &str, reason: &str) -> anyhow::Error {
    exit::error(Code::Failure, format!("the controller at {url}: {reason}"))
}

/// Whether there is nothing to talk to, rather than something that talks nonsense.
fn is_nobody(error: &Error) -> bool {
    match error {
        Error::HostNotFound | Error::ConnectionFailed => true,
        Error::Timeout(step) => matches!(step, Timeout::Resolve | Timeout::Connect),
        Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::TimedOut
                | ErrorKind::AddrNotAvailable
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_is_slow_is_not_one_that_is_absent() {
        let told = |step| explain("http://c", Error::Timeout(step)).to_string();
        assert_eq!(told(Timeout::Global), "the controller at http://c: it has not answered for 60 s");
        assert!(told(Timeout::Connect).starts_with("no controller answers at http://c: "));
    }
}
