//! Groups set over the listener: spraying, resequencing, and refusals.

use std::time::Duration;

use braid_edge::{ClientError, GroupClient};
use braid_edge_protocol::extension::{Extension, PathUpdate};
use braid_edge_protocol::telemetry::Report;
use braid_openflow::{ErrorCode, GroupId, GroupModFailedCode};
use braid_spray::{Policy, Settings};

use crate::support::{Running, has_ofctl};

const GROUP: GroupId = GroupId(1);

fn refusal(result: Result<(), ClientError>) -> ErrorCode {
    match result {
        Err(ClientError::Refused(code)) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn groups_that_are_not_there_or_of_another_type_are_refused() {
    let edge = Running::start(Vec::new());
    let mut client = GroupClient::connect(edge.address).unwrap();
    let spray = Extension::SetSpray { group: GROUP, policy: Policy::default() };
    let unknown = ErrorCode::GroupModFailed(GroupModFailedCode::UnknownGroup);
    assert_eq!(refusal(client.set(&spray)), unknown);
    // What follows a refusal is answered: its barrier is not taken for the next one's.
    let order = Extension::SetResequence { group: GROUP, settings: Some(Settings::default()) };
    assert_eq!(refusal(client.set(&order)), unknown);
}

#[test]
fn groups_are_made_to_spray_and_to_put_in_order() {
    if !has_ofctl() {
        return;
    }
    let edge = Running::start(Vec::new());
    edge.done("add-group", &["group_id=1,type=select,bucket=output:1,bucket=output:2"]);
    edge.done("add-group", &["group_id=2,type=indirect,bucket=output:3"]);
    let mut client = GroupClient::connect(edge.address).unwrap();
    client.set(&Extension::SetSpray { group: GROUP, policy: Policy::DelayAware }).unwrap();
    let path = PathUpdate { bucket: 1, weight: 5, rate: None, delay: Duration::ZERO };
    client.set(&Extension::SetPaths { group: GROUP, paths: vec![path] }).unwrap();
    let order = Extension::SetResequence { group: GroupId(2), settings: Some(Settings::default()) };
    client.set(&order).unwrap();
    let Some(Report::Spray(spray)) = client.report(GROUP).unwrap() else { panic!("it sprays") };
    assert_eq!(spray.paths.iter().map(|path| path.weight).collect::<Vec<_>>(), [1, 5]);
    let Some(Report::Resequence(order)) = client.report(GroupId(2)).unwrap() else {
        panic!("it resequences")
    };
    assert_eq!((order.counters.held, order.arrivals), (0, Vec::new()));
    assert_eq!(client.report(GroupId(3)).unwrap(), None);
    let wrong = Extension::SetSpray { group: GroupId(2), policy: Policy::DelayAware };
    assert_eq!(refusal(client.set(&wrong)), ErrorCode::GroupModFailed(GroupModFailedCode::BadType));
}
