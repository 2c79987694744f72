//! Exit codes, and errors printed with their causes.

use std::fmt;
use std::io::{Write, stderr};
use std::process::ExitCode;

/// The exit codes of `braid` for failures; 0 is success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// A failure.
    Failure = 1,
    /// An invalid command line or file.
    Usage = 2,
    /// The requested object does not exist.
    NotFound = 3,
    /// The machine lacks a feature.
    Machine = 4,
    /// An expectation was not met.
    Unmet = 5,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// Adds an exit code to an error; errors without one end with [`Code::Failure`].
///
/// Context may wrap it, and an existing code stays.
pub(crate) trait ExitWith<T> {
    /// The same result, with `code` as the exit code of its error.
    fn exit_with(self, code: Code) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> ExitWith<T> for Result<T, E> {
    fn exit_with(self, code: Code) -> anyhow::Result<T> {
        self.map_err(|error| {
            let error = error.into();
            if code_of(&error).is_some() { error } else { Coded { code, error }.into() }
        })
    }
}

/// An error with this text and exit code.
pub(crate) fn error(code: Code, text: impl fmt::Display) -> anyhow::Error {
    Coded { code, error: anyhow::anyhow!("{text}") }.into()
}

/// Prints the error, if any, and returns the exit code.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    say(&text(&error));
    code_of(&error).unwrap_or(Code::Failure).into()
}

/// The error and its causes, each once, since some errors quote their cause.
fn text(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Prints an error to standard error.
pub(crate) fn say(text: &str) {
    say_as_it_is(&format!("braid: {text}\n"));
}

/// Prints text to standard error.
pub(crate) fn say_as_it_is(text: &str) {
    // A closed standard error is ignored.
    let _ = stderr().write_all(text.as_bytes());
}

fn code_of(error: &anyhow::Error) -> Option<Code> {
    error.chain().find_map(|cause| cause.downcast_ref::<Coded>()).map(|coded| coded.code)
}

/// Displays as the error that it wraps, with the same causes.
#[derive(Debug)]
struct Coded {
    code: Code,
    error: anyhow::Error,
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Coded {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn code_survives_context_and_leaves_the_text_as_it_is() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let error = Err::<(), _>(refused).context("no answer").exit_with(Code::NotFound);
        let error = error.context("cannot list switches").unwrap_err();
        assert_eq!(code_of(&error), Some(Code::NotFound));
        assert_eq!(format!("{error:#}"), "cannot list switches: no answer: connection refused");
    }

    #[test]
    fn first_code_stays() {
        let error = Err::<(), _>(error(Code::NotFound, "no switch 7")).exit_with(Code::Usage).unwrap_err();
        assert_eq!(code_of(&error), Some(Code::NotFound));
    }

    #[test]
    fn a_cause_that_the_error_quotes_is_not_said_twice() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let quoted = format!("cannot listen: {refused}");
        let error = anyhow::Error::from(refused);
        assert_eq!(text(&error.context(quoted)), "cannot listen: connection refused");
    }
}
