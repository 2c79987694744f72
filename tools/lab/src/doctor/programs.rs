//! Versions of the programs that labs call.

use std::io::ErrorKind;

use super::command::{complaint, program, run};
use super::report::Finding;

/// The version of the program `name`, which prints it when called with `arguments`.
pub(super) fn version(name: &str, arguments: &[&str]) -> Finding {
    match run(program(name, arguments), "") {
        Err(error) if error.kind() == ErrorKind::NotFound => Finding::missing("not installed"),
        Err(error) => Finding::unusable(error.to_string()),
        Ok(output) if !output.status.success() => Finding::unusable(complaint(&output)),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let line = text.lines().next().unwrap_or_default();
            Finding::ok(version_in(line).unwrap_or_else(|| line.trim()))
        }
    }
}

/// The first word that begins with a digit, in a line such as `iperf 3.12 (cJSON 1.7.15)`.
fn version_in(line: &str) -> Option<&str> {
    let words =
        line.split(|character: char| character.is_whitespace() || matches!(character, '-' | ',' | '('));
    let mut numbers =
        words.map(|word| word.trim_start_matches('v').trim_end_matches(|last: char| !last.is_alphanumeric()));
    numbers.find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::report::State;
    use super::*;

    #[test]
    fn versions_are_found_in_what_real_programs_print() {
        for (line, version) in [
            ("ovs-vswitchd (Open vSwitch) 3.1.0", "3.1.0"),
            ("ip utility, iproute2-6.1.0, libbpf 1.1.2", "6.1.0"),
            ("ss utility, iproute2-6.1.0", "6.1.0"),
            ("ethtool version 6.1", "6.1"),
            ("ping from iputils 20221126", "20221126"),
            ("iperf 3.12 (cJSON 1.7.15)", "3.12"),
            ("mptcpize 0.12", "0.12"),
            ("tcpdump version 4.99.3", "4.99.3"),
            ("etcd Version: 3.4.23", "3.4.23"),
            ("TShark (Wireshark) 4.0.17 (Git v4.0.17 packaged as 4.0.17-0+deb12u3).", "4.0.17"),
        ] {
            assert_eq!(version_in(line), Some(version), "{line}");
        }
        assert_eq!(version_in("ip utility, iproute2-ss140804"), None);
    }

    #[test]
    fn program_that_is_not_there_is_missing_and_one_that_fails_is_unusable() {
        assert_eq!(version("braid-no-such-program", &[]).state, State::Missing);
        assert_eq!(version("false", &[]).state, State::Unusable);
        assert_eq!(version("echo", &["tool 1.2"]), Finding::ok("1.2"));
    }
}
