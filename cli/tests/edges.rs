//! The table of `braid edges`.

mod support;

use braid_api::{
    Edge, EdgePath, EdgePathState, HeldPackets, HoldTime, Resequencer, ResequencerCounters, SprayGroup,
};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use serde_json::json;
use support::controller::answer_with;
use support::{run, text};

fn path(ports: &[(u64, u32)], state: Option<EdgePathState>, read_at: u64) -> EdgePath {
    let told = state.is_some();
    EdgePath {
        path: ports.iter().map(|(dpid, _)| DatapathId(*dpid)).chain([DatapathId(9)]).collect(),
        path_names: Vec::new(),
        port_names: Vec::new(),
        ports: ports.iter().map(|(dpid, port)| SwitchPort::new(DatapathId(*dpid), PortNo(*port))).collect(),
        read_at: told.then(|| Time::from_millis(read_at)),
        state,
        share: told.then_some(0.325),
        carried_bps: told.then_some(31_200_000),
        estimated_capacity_bps: None,
        round_trip_us: told.then_some(20_400.0),
        queue_us: told.then_some(512.0),
        loss: told.then_some(0.0),
        silences: if told { 2 } else { 0 },
        packets: 1,
        bytes: 1,
    }
}

fn resequencer() -> Resequencer {
    Resequencer {
        group: 257,
        from: DatapathId(9),
        from_name: String::new(),
        host: MacAddr::new([2, 0, 0, 0, 0, 1]),
        port: PortNo(1),
        read_at: Some(Time::from_millis(90_000)),
        held: Some(HeldPackets {
            flows: 1,
            packets: 40,
            bytes: 65_000,
            max_packets: 32_768,
            max_bytes: 32_000_000,
            max_flow_bytes: 16_000_000,
            max_hold_us: 280_000.0,
        }),
        hold_time: Some(HoldTime {
            packets: 9,
            p50_us: Some(19_000.0),
            p99_us: Some(21_000.0),
            max_us: None,
        }),
        counters: Some(ResequencerCounters {
            gaps_filled: 7,
            gaps_passed: 2,
            gaps_ended: 1,
            ..Default::default()
        }),
    }
}

fn table(edges: &[Edge]) -> String {
    let body = json!({ "schema": "braid/v1", "now": Time::from_millis(90_000), "edges": edges });
    text(&run(&["edges", "--controller", &answer_with("200 OK", body.to_string())]).stdout)
}

#[test]
fn edges_are_listed_by_spray_groups_and_resequencers() {
    let active = Some(EdgePathState::Active);
    let paths = vec![
        path(&[(1, 2)], active, 90_000),
        path(&[(1, 3), (4, 1)], Some(EdgePathState::Silent), 80_000),
        path(&[(1, 5)], None, 0),
        path(&[(1, 6)], Some(EdgePathState::Suspended), 90_000),
    ];
    let groups = vec![SprayGroup { group: 256, to: DatapathId(9), to_name: String::new(), paths }];
    let edge = |dpid, spray_groups, resequencers| Edge {
        dpid: DatapathId(dpid),
        name: None,
        answered_at: None,
        spray_groups,
        resequencers,
    };
    let edges = [edge(1, groups, vec![resequencer()]), edge(9, Vec::new(), Vec::new())];
    let expected = "\
EDGE  TO  PATH           SHARE                NOW       CAPACITY  ROUND TRIP  QUEUE   LOSS    SILENCES
1     9   1:2 > 9        32.50 %              31.2Mbit  -         20.40 ms    512 us  0.00 %  2
1     9   1:3 > 4:1 > 9  silent (10.0 s ago)  31.2Mbit  -         20.40 ms    512 us  0.00 %  2
1     9   1:5 > 9        -                    -         -         -           -       -       -
1     9   1:6 > 9        suspended            31.2Mbit  -         20.40 ms    512 us  0.00 %  2
9

EDGE  FROM  HOST               HELD          OF       HOLD P50  P99       MAX  GAPS FILLED  GIVEN UP  SPURIOUS
1     9     02:00:00:00:00:01  40 (65.0 kB)  32.0 MB  19.00 ms  21.00 ms  -    7            3         0
";
    assert_eq!(table(&edges), expected);
    assert_eq!(table(&[edge(9, Vec::new(), Vec::new())]).lines().count(), 2);
    let named = EdgePath {
        path_names: ["ams", "gva"].map(str::to_owned).to_vec(),
        port_names: vec!["ams:eth2".to_owned()],
        ..path(&[(1, 2)], active, 90_000)
    };
    let groups =
        vec![SprayGroup { group: 256, to: DatapathId(9), to_name: "gva".to_owned(), paths: vec![named] }];
    let named = Edge { name: Some("ams".to_owned()), ..edge(1, groups, Vec::new()) };
    assert!(table(&[named]).contains("\nams   gva  ams:eth2 > gva "));
}
