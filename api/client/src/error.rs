//! Why a request has no answer.

use std::io::ErrorKind;

use braid_api::Problem;
use ureq::Timeout;

use crate::Url;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens there.
    #[error("no controller answers at {url}: {reason}")]
    Absent {
        /// The controller.
        url: Url,
        /// What the system says.
        reason: String,
    },
    /// The controller refuses the request.
    #[error("{}", refusal(url, problem))]
    Refused {
        /// The controller.
        url: Url,
        /// Why.
        problem: Box<Problem>,
    },
    /// The connection failed, or something else than a controller answered.
    #[error("the controller at {url}: {reason}")]
    Failed {
        /// The controller.
        url: Url,
        /// What happened.
        reason: String,
    },
    /// The answer is none of a Braid controller.
    #[error("{url} gave no answer of a Braid controller: {reason}")]
    Foreign {
        /// What answered.
        url: Url,
        /// What is wrong with its answer.
        reason: String,
    },
    /// The token cannot be sent.
    #[error("the token has characters that no token has")]
    Token,
}

impl Error {
    /// The status of the response, if the controller refused.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { problem, .. } => Some(problem.status),
            _ => None,
        }
    }

    pub(crate) fn failed(url: &Url, reason: impl Into<String>) -> Self {
        Self::Failed { url: url.clone(), reason: reason.into() }
    }

    pub(crate) fn foreign(url: &Url, reason: impl ToString) -> Self {
        Self::Foreign { url: url.clone(), reason: reason.to_string() }
    }

    /// Why a request was not sent, or its response not read.
    pub(crate) fn of_transport(url: &Url, error: ureq::Error) -> Self {
        let is_absent = is_nobody(&error);
        let reason = match error {
            ureq::Error::Io(error) => error.to_string(),
            ureq::Error::Timeout(_) if !is_absent => "it has not answered in time".to_owned(),
            error => error.to_string(),
        };
        match is_absent {
            true => Self::Absent { url: url.clone(), reason },
            false => Self::failed(url, reason),
        }
    }
}

/// A wrong request is the caller's own; about others it helps to know whose answer it is.
fn refusal(url: &Url, problem: &Problem) -> String {
    let Problem { status, detail, .. } = problem;
    match status {
        400 | 404 => detail.clone(),
        _ => format!("the controller at {url}: {detail} (status {status})"),
    }
}

/// Whether there is nothing to talk to, rather than something that talks nonsense.
fn is_nobody(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Timeout(step) => matches!(step, Timeout::Resolve | Timeout::Connect),
        ureq::Error::Io(error) => {
            is_unresolved(error)
                || matches!(
                    error.kind(),
                    ErrorKind::ConnectionRefused
                        | ErrorKind::HostUnreachable
                        | ErrorKind::NetworkUnreachable
                        | ErrorKind::TimedOut
                        | ErrorKind::AddrNotAvailable
                )
        }
        _ => false,
    }
}

/// Whether the host's name is unknown. The standard library has no kind of its own for it.
fn is_unresolved(error: &std::io::Error) -> bool {
    error.to_string().starts_with("failed to lookup address information")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_is_slow_is_not_one_that_is_absent() {
        let url = "http://c".parse().expect("a URL");
        let told = |step| Error::of_transport(&url, ureq::Error::Timeout(step)).to_string();
        assert_eq!(told(Timeout::Global), "the controller at http://c: it has not answered in time");
        assert!(told(Timeout::Connect).starts_with("no controller answers at http://c: "));
        let unknown =
            std::io::Error::other("failed to lookup address information: Name or service not known");
        let told = Error::of_transport(&url, ureq::Error::Io(unknown)).to_string();
        assert!(told.starts_with("no controller answers at http://c: "), "{told}");
    }
}
