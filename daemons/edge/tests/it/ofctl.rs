//! Interoperation with `ovs-ofctl`: descriptions, flows, groups and refusals.

use crate::support::{Running, has_ofctl};

#[test]
fn ovs_ofctl_understands_what_the_switch_says_of_itself() {
    if !has_ofctl() {
        return;
    }
    let edge = Running::start(Vec::new());
    let shown = edge.done("show", &[]);
    assert!(shown.contains("dpid:000000000000002a") && shown.contains("n_tables:8"), "{shown}");
    for (command, expected) in [
        ("dump-desc", "Manufacturer: Braid"),
        ("dump-tables", "table 0"),
        ("dump-table-features", "tcp_{src,dst,flags}"),
        ("dump-ports", "0 ports"),
        ("dump-ports-desc", "PORT_DESC"),
        ("dump-groups", "GROUP_DESC"),
        ("dump-group-stats", "GROUP"),
        ("dump-group-features", "select group"),
        ("dump-meters", "METER"),
        ("meter-features", "max_meter:0"),
        ("dump-aggregate", "flow_count=0"),
        ("get-frags", "normal"),
        ("probe", ""),
    ] {
        let text = edge.done(command, &[]);
        assert!(text.contains(expected), "{command}: {text}");
        assert!(!text.contains("decode error") && !text.contains("***"), "{command}: {text}");
    }
}

#[test]
fn flows_and_groups_come_back_as_ovs_ofctl_gave_them() {
    if !has_ofctl() {
        return;
    }
    let edge = Running::start(Vec::new());
    edge.done("add-group", &["group_id=1,type=select,bucket=weight:3,watch_port:2,actions=output:2"]);
    edge.done(
        "add-group",
        &["group_id=2,type=indirect,bucket=actions=set_field:02:00:00:00:00:09->eth_dst,output:1"],
    );
    let flows = [
        "table=0,priority=9,tcp,nw_src=10.0.0.0/8,tp_dst=80,actions=group:1",
        "table=0,priority=8,tcp6,ipv6_dst=fd00::/64,actions=goto_table:3",
        "table=0,priority=7,dl_vlan=42,actions=pop_vlan,output:1",
        "table=0,priority=6,arp,arp_tpa=10.0.0.1,actions=CONTROLLER:128",
        "table=3,cookie=0x7,idle_timeout=60,ip,actions=dec_ttl,push_vlan:0x8100,output:2",
    ];
    for flow in flows {
        edge.done("add-flow", &[flow]);
    }
    let dumped = edge.done("dump-flows", &[]);
    for expected in [
        "priority=9,tcp,nw_src=10.0.0.0/8,tp_dst=80 actions=group:1",
        "priority=8,tcp6,ipv6_dst=fd00::/64 actions=goto_table:3",
        "priority=7,dl_vlan=42 actions=pop_vlan,output:1",
        "priority=6,arp,arp_tpa=10.0.0.1 actions=CONTROLLER:128",
        "idle_timeout=60, ip actions=dec_ttl,push_vlan:0x8100,output:2",
    ] {
        assert!(dumped.contains(expected), "{expected} is not in\n{dumped}");
    }
    let groups = edge.done("dump-groups", &[]);
    assert!(groups.contains("bucket=weight:3,watch_port:2,actions=output:2"), "{groups}");
    edge.done("mod-flows", &["table=3,ip,actions=drop"]);
    assert!(edge.done("dump-flows", &["table=3"]).contains("actions=drop"));
    edge.done("del-flows", &["ip"]);
    assert!(edge.done("dump-aggregate", &[]).contains("flow_count=3"));
    edge.done("del-groups", &[]);
    edge.done("del-flows", &[]);
    assert!(edge.done("dump-aggregate", &[]).contains("flow_count=0"));
}

#[test]
fn what_cannot_be_done_is_said() {
    if !has_ofctl() {
        return;
    }
    let edge = Running::start(Vec::new());
    for (command, argument, expected) in [
        ("add-flow", "table=9,actions=drop", "OFPFMFC_BAD_TABLE_ID"),
        ("add-flow", "actions=group:77", "OFPBAC_BAD_OUT_GROUP"),
        ("add-flow", "actions=normal", "OFPBAC_BAD_OUT_PORT"),
        ("add-flow", "mpls,actions=pop_mpls:0x0800", "OFPBAC_BAD_TYPE"),
        ("add-meter", "meter=1,kbps,band=type=drop,rate=1", "OFPMMFC_OUT_OF_METERS"),
        ("mod-port", "5 down", "couldn't find port"),
    ] {
        let arguments: Vec<_> =
            if command == "mod-port" { argument.split(' ').collect() } else { vec![argument] };
        let (content, text) = edge.ofctl(command, &arguments);
        assert!(!content || text.contains("OFPT_ERROR"), "{command} {argument}: {text}");
        assert!(text.contains(expected), "{command} {argument}: {text}");
    }
}
