use std::process::ExitCode;

/// An error that asks for another exit code than 1.
///
/// 0 ok, 1 failure, 2 usage, 3 not found, 4 the machine lacks a feature, 5 an expectation failed.
#[derive(Debug)]
pub(crate) struct Exit(pub(crate) u8);

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}", self.0)
    }
}

impl std::error::Error for Exit {}

/// Prints the error, if there is one, and turns it into the exit code.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // The code travels as context, so that it need not be told from the message.
    if let Some(Exit(code)) = error.downcast_ref() {
        eprintln!("braid: {:#}", error.root_cause());
        return ExitCode::from(*code);
    }
    eprintln!("braid: {error:#}");
    ExitCode::FAILURE
}
