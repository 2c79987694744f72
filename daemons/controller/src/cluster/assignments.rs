//! Assignments as the store keeps them: one value for each, with its version.

use braid_assign::{AssignmentId, Claim, PromisedAssignment};
use serde::{Deserialize, Serialize};

/// The version of the value.
const VERSION: u32 = 1;

/// A value. Fields that a later version adds are passed over; a change that an older one must not pass over raises the version.
#[derive(Serialize, Deserialize)]
struct Value {
    version: u32,
    claim: Claim,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// The key of an assignment.
pub(super) fn key(id: AssignmentId) -> String {
    id.to_string()
}

/// The value of an assignment.
pub(super) fn value(claim: &Claim) -> String {
    serde_json::to_string(&Value { version: VERSION, claim: claim.clone() }).unwrap_or_default()
}

/// The assignment that a key and its value are, or what is wrong with them.
pub(super) fn read(key: &str, value: &str) -> Result<PromisedAssignment, String> {
    let id = key.parse()?;
    let Versioned { version } =
        serde_json::from_str(value).map_err(|_| "its value has no version".to_owned())?;
    if version > VERSION {
        return Err(format!("its value has version {version}: upgrade this member"));
    }
    let value: Value = serde_json::from_str(value).map_err(|error| error.to_string())?;
    Ok(PromisedAssignment { id, claim: value.claim })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use braid_assign::Distribution;

    use super::*;

    fn claim() -> Claim {
        let (streams, distribution, model) = (Some(8), Distribution::default(), None);
        let [src, dst] = ["10.0.0.1", "2001:db8::1"].map(|it| it.parse().expect("an address"));
        let owner = "alice".parse().expect("a name");
        Claim { owner, src, dst, paths: 4, streams, lease: Duration::from_secs(60), distribution, model }
    }

    #[test]
    fn an_assignment_reads_back_as_written() {
        let id = AssignmentId(7);
        assert_eq!(read(&key(id), &value(&claim())), Ok(PromisedAssignment { id, claim: claim() }));
        let newer = value(&claim()).replacen('{', r#"{"added_later":true,"#, 1);
        assert!(read(&key(id), &newer).is_ok(), "{newer}");
    }

    #[test]
    fn what_is_no_assignment_is_an_error_and_no_panic() {
        let good = value(&claim());
        let newer = good.replace(r#""version":1"#, r#""version":2"#);
        let cases = [
            ("x", good.as_str(), "16 hexadecimal digits"),
            ("0000000000000007", "", "no version"),
            ("0000000000000007", "\u{0}", "no version"),
            ("0000000000000007", r#"{"version":1}"#, "missing field"),
            ("0000000000000007", newer.as_str(), "upgrade this member"),
        ];
        for (key, value, why) in cases {
            assert!(read(key, value).is_err_and(|error| error.contains(why)), "{key} {value}");
        }
    }
}
