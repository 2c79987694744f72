//! Rules of a switch as `braid switches rules` shows them.

mod support;

use braid_api::{Rule, RuleGroup, RuleGroupKind, RuleKind};
use braid_types::DatapathId;
use serde_json::json;
use support::controller::answer_with;
use support::{lines, run, text};

/// A rule as a controller tells it.
fn rule(table: u8, name: Option<&str>, purpose: &str, kind: RuleKind) -> Rule {
    Rule {
        table,
        table_name: name.map(str::to_owned),
        priority: 50,
        matching: "tcp,ip_dst=10.0.0.2".to_owned(),
        actions: "output:3".to_owned(),
        group: None,
        packets: Some(1_200),
        bytes: Some(1_500_000),
        age_seconds: 90,
        cookie: "0x0000000000000005".to_owned(),
        kind,
        purpose: purpose.to_owned(),
        stream: None,
        transfer: None,
        reverse: None,
        label: None,
        path: Vec::new(),
        path_names: Vec::new(),
    }
}

#[test]
fn rules_of_a_switch_are_shown_with_their_purpose_and_filtered() {
    let foreign = Rule { packets: None, bytes: None, ..rule(9, None, "foreign", RuleKind::Foreign) };
    let purpose = "protected port: 3, or its bypass".to_owned();
    let stream = Rule {
        actions: "group:196608".to_owned(),
        group: Some(RuleGroup { number: 196_608, kind: RuleGroupKind::ProtectedPort, purpose }),
        ..rule(1, Some("stream"), "stream 7 of transfer 2 (forward)", RuleKind::Stream)
    };
    let rules = [stream, foreign];
    let body = json!({
        "schema": "braid/v1", "now": 0, "dpid": DatapathId(1), "name": null, "rules": rules, "truncated": true,
    });
    let shown = |more: &[&str]| {
        let url = answer_with("200 OK", body.to_string());
        run(&[&["switches", "rules", "west coast", "--controller", &url], more].concat())
    };
    let output = shown(&[]);
    assert_eq!(
        text(&output.stdout),
        "\
TABLE     PRIORITY  PACKETS  BYTES   AGE         PURPOSE                           MATCH                ACTIONS       GROUP
1 stream  50        1200     1.5 MB  1 min 30 s  stream 7 of transfer 2 (forward)  tcp,ip_dst=10.0.0.2  group:196608  protected port: 3, or its bypass
9         50        -        -       1 min 30 s  foreign                           tcp,ip_dst=10.0.0.2  output:3      -
"
    );
    assert!(text(&output.stderr).contains("more rules than these 2"), "{output:?}");
    let output = shown(&["--filter", "group.kind=protected_port"]);
    assert!(
        text(&output.stdout).lines().count() == 2 && text(&output.stdout).contains("stream 7"),
        "{output:?}"
    );
    let output = shown(&["--filter", "kind=foreign"]);
    assert_eq!(text(&output.stdout).lines().count(), 2, "{output:?}");
    let listed = &lines(&shown(&["--json", "--filter", "kind=stream", "--table", "1"]))[0];
    assert_eq!(listed["rules"].as_array().map(Vec::len), Some(1));
}
