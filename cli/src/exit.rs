//! Exit codes, and errors printed with their causes. The table is in docs/reference/exit-codes.md.

use std::fmt;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use crate::output;

/// The exit codes of `braid` for failures; 0 is success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// A failure.
    Failure = 1,
    /// An invalid command line or file.
    Usage = 2,
    /// The requested object does not exist.
    NotFound = 3,
    /// The machine lacks a feature, or the caller a permission.
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
            if given(&error).is_some() { error } else { Coded { code, error }.into() }
        })
    }
}

/// An error with this text and exit code.
pub(crate) fn error(code: Code, text: impl fmt::Display) -> anyhow::Error {
    Coded { code, error: anyhow::anyhow!("{text}") }.into()
}

/// An error with this text and the exit code of another.
pub(crate) fn same_code(other: &anyhow::Error, text: impl fmt::Display) -> anyhow::Error {
    error(code_of(other).unwrap_or(Code::Failure), text)
}

/// Prints an error after which the command goes on.
pub(crate) fn report(error: &anyhow::Error) {
    say(&text(error));
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
    output::aside(&format!("braid: {text}\n"));
}

/// The code that the error was given. A file, host or interface that is not there is [`Code::NotFound`] in every command, and
/// a refusal of the system [`Code::Machine`], whoever reports it.
fn code_of(error: &anyhow::Error) -> Option<Code> {
    let coded = given(error);
    let by_cause = match coded {
        Some(Coded { code: Code::Usage, error }) => by_cause(error),
        Some(_) => None,
        None => by_cause(error),
    };
    by_cause.or(coded.map(|coded| coded.code))
}

fn given(error: &anyhow::Error) -> Option<&Coded> {
    error.chain().find_map(|cause| cause.downcast_ref::<Coded>())
}

fn by_cause(error: &anyhow::Error) -> Option<Code> {
    error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).and_then(of_system)
}

/// The code of what the system says; `None` if it depends on what was asked of it.
pub(crate) fn of_system(cause: &io::Error) -> Option<Code> {
    match (cause.kind(), cause.raw_os_error()) {
        (ErrorKind::NotFound, _) | (_, Some(ENODEV | ENXIO)) => Some(Code::NotFound),
        (ErrorKind::PermissionDenied, _) => Some(Code::Machine),
        _ => None,
    }
}

/// There is no such interface.
const ENODEV: i32 = 19;
const ENXIO: i32 = 6;

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
        let refused = io::Error::from(ErrorKind::ConnectionRefused);
        let error = Err::<(), _>(refused).context("no answer").exit_with(Code::NotFound);
        let error = error.context("cannot list switches").unwrap_err();
        assert_eq!(code_of(&error), Some(Code::NotFound));
        assert_eq!(format!("{error:#}"), "cannot list switches: no answer: connection refused");
    }

    #[test]
    fn what_is_not_there_or_not_permitted_has_one_code_whoever_reports_it() {
        let missing = || io::Error::from(ErrorKind::NotFound);
        for (error, code) in [
            (missing(), Code::NotFound),
            (io::Error::from_raw_os_error(ENODEV), Code::NotFound),
            (ErrorKind::PermissionDenied.into(), Code::Machine),
        ] {
            let error = Err::<(), _>(error).exit_with(Code::Usage).context("policy").unwrap_err();
            assert_eq!(code_of(&error), Some(code));
        }
        assert_eq!(code_of(&anyhow::Error::from(missing()).context("file")), Some(Code::NotFound));
        let failed = Err::<(), _>(missing()).exit_with(Code::Failure).unwrap_err();
        assert_eq!(code_of(&failed), Some(Code::Failure));
    }

    #[test]
    fn first_code_stays() {
        let error = Err::<(), _>(error(Code::NotFound, "no switch 7")).exit_with(Code::Usage).unwrap_err();
        assert_eq!(code_of(&error), Some(Code::NotFound));
    }

    #[test]
    fn a_cause_that_the_error_quotes_is_not_said_twice() {
        let refused = io::Error::from(ErrorKind::ConnectionRefused);
        let quoted = format!("cannot listen: {refused}");
        let error = anyhow::Error::from(refused);
        assert_eq!(text(&error.context(quoted)), "cannot listen: connection refused");
    }
}
