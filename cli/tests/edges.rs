//! The table of `braid edges`.

mod support;

use braid_control::view::{
    EdgeHeldView, EdgeOrderCounts, EdgeOrderView, EdgePathState, EdgePathView, EdgeSprayView, EdgeView,
    EdgeWaitedView,
};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use serde_json::json;
use support::controller::answer_with;
use support::{run, text};

fn path(ports: &[(u64, u32)], state: Option<EdgePathState>, read_at: u64) -> EdgePathView {
    let told = state.is_some();
    EdgePathView {
        path: ports.iter().map(|(dpid, _)| DatapathId(*dpid)).chain([DatapathId(9)]).collect(),
        ports: ports.iter().map(|(dpid, port)| SwitchPort::new(DatapathId(*dpid), PortNo(*port))).collect(),
        read_at: told.then(|| Time::from_millis(read_at)),
        state,
        share: told.then_some(0.325),
        carried_bps: told.then_some(31_200_000),
        found_bps: None,
        round_trip_us: told.then_some(20_400.0),
        queue_us: told.then_some(512.0),
        loss: told.then_some(0.0),
        packets: 1,
        bytes: 1,
    }
}

fn order() -> EdgeOrderView {
    EdgeOrderView {
        group: 257,
        from: DatapathId(9),
        host: MacAddr::new([2, 0, 0, 0, 0, 1]),
        port: PortNo(1),
        read_at: Some(Time::from_millis(90_000)),
        held: Some(EdgeHeldView {
            flows: 1,
            packets: 40,
            bytes: 65_000,
            most_packets: 32_768,
            most_bytes: 32_000_000,
            most_bytes_of_flow: 16_000_000,
            longest_us: 280_000.0,
        }),
        waited: Some(EdgeWaitedView {
            packets: 9,
            p50_us: Some(19_000.0),
            p99_us: Some(21_000.0),
            max_us: None,
        }),
        counted: Some(EdgeOrderCounts {
            gaps_filled: 7,
            gaps_passed: 2,
            gaps_ended: 1,
            ..Default::default()
        }),
        waits: Default::default(),
        waited_s: 0.0,
    }
}

fn table(edges: &[EdgeView]) -> String {
    let body = json!({ "schema": "braid/v1", "now": Time::from_millis(90_000), "edges": edges });
    text(&run(&["edges", "--controller", &answer_with("200 OK", body.to_string())]).stdout)
}

#[test]
fn edges_are_listed_by_what_they_spray_and_what_they_put_in_order() {
    let carries = Some(EdgePathState::Carries);
    let paths = vec![
        path(&[(1, 2)], carries, 90_000),
        path(&[(1, 3), (4, 1)], Some(EdgePathState::Silent), 80_000),
        path(&[(1, 5)], None, 0),
        path(&[(1, 6)], Some(EdgePathState::LeftOut), 90_000),
    ];
    let sprays = vec![EdgeSprayView { group: 256, to: DatapathId(9), paths }];
    let edge = |dpid, sprays, orders| EdgeView { dpid: DatapathId(dpid), answered_at: None, sprays, orders };
    let edges = [edge(1, sprays, vec![order()]), edge(9, Vec::new(), Vec::new())];
    let expected = "\
EDGE  TO  PATH           SHARE                NOW       CAPACITY  ROUND TRIP  QUEUE   LOSS
1     9   1:2 > 9        32.50 %              31.2Mbit  -         20.40 ms    512 us  0.00 %
1     9   1:3 > 4:1 > 9  silent (10.0 s ago)  31.2Mbit  -         20.40 ms    512 us  0.00 %
1     9   1:5 > 9        -                    -         -         -           -       -
1     9   1:6 > 9        left out             31.2Mbit  -         20.40 ms    512 us  0.00 %
9

EDGE  FROM  HOST               HELD          OF       HOLD P50  P99       MAX  GAPS FILLED  GIVEN UP  SPURIOUS
1     9     02:00:00:00:00:01  40 (65.0 kB)  32.0 MB  19.00 ms  21.00 ms  -    7            3         0
";
    assert_eq!(table(&edges), expected);
    assert_eq!(table(&[edge(9, Vec::new(), Vec::new())]).lines().count(), 2);
}
