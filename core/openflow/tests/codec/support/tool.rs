//! OpenFlow decoders of other projects.

use std::process::Command;

/// What the program prints on standard output. Without the program the test fails: it must not pass unseen.
pub(crate) fn run(package: &str, command: &mut Command) -> String {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}; `make test` installs the package {package}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("text")
}
