//! Parameters as data.

use braid_link_model::{Change, Parameters};

#[test]
fn parameters_are_written_as_people_write_them_and_read_back() {
    let text = r#"{"rate":"10Mbit","queue":"100 packets","delay":"75ms","jitter":"1.5ms","distribution":"normal","loss":"0.1%","loss_burst":1.0,"reorder":"0%"}"#;
    let parameters: Parameters = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&parameters).unwrap(), text);
    assert_eq!(serde_json::from_str::<Parameters>("{}").unwrap(), Parameters::default());
}

#[test]
fn a_change_names_only_what_changes() {
    let change: Change = serde_json::from_str(r#"{"delay":"10ms"}"#).unwrap();
    assert_eq!(serde_json::to_string(&change).unwrap(), r#"{"delay":"10ms"}"#);
    assert!(serde_json::from_str::<Change>(r#"{"delya":"10ms"}"#).is_err());
}
