//! Wireshark as the reader of messages that this crate writes.

use std::process::Command;

use braid_openflow::{
    Action, EthType, FlowMod, Masked, Message, MultipartReply, OxmField, PortStats, ReplyBody, TcpFlags, Xid,
};
use braid_types::PortNo;

use crate::support::build::{apply, flow, list};
use crate::support::tool::run;
use crate::support::{golden, rebuild};

/// A link type that is free for users.
const DLT_USER0: u32 = 147;

/// Bodies of unknown structure after which Wireshark 4.0 reads on past the end, whatever they hold.
const READS_PAST_THE_END: [&str; 4] = [
    "requests.error.2",
    "by_hand.meter_mod",
    "by_hand.multipart_reply_experimenter",
    "by_hand.multipart_reply_unknown",
];

/// The values that tshark finds for `fields` in each message: one line a message, fields separated by tabs.
fn dissect(messages: &[Vec<u8>], fields: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("messages.pcap");
    std::fs::write(&path, capture(messages)).expect("a file");
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path);
    command.args(["-o", r#"uat:user_dlts:"User 0 (DLT=147)","openflow_v4","0","","0","""#, "-T", "fields"]);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    run("tshark", &mut command).lines().map(str::to_owned).collect()
}

/// A capture file in which each message is a packet.
fn capture(messages: &[Vec<u8>]) -> Vec<u8> {
    let header = [0xa1b2_c3d4, 0x0002_0004, 0, 0, 0x4_0000, DLT_USER0];
    let mut file: Vec<u8> = header.iter().flat_map(|word: &u32| word.to_be_bytes()).collect();
    for message in messages {
        let length = u32::try_from(message.len()).expect("short").to_be_bytes();
        file.extend([[0; 4], [0; 4], length, length].concat());
        file.extend(message);
    }
    file
}

fn encode(message: Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(Xid(7), &mut bytes).expect("encodes");
    bytes
}

#[test]
fn no_message_is_malformed() {
    let (names, messages): (Vec<_>, Vec<_>) = golden::all()
        .into_iter()
        .filter(|golden| !READS_PAST_THE_END.contains(&golden.name.as_str()))
        .map(|golden| {
            let (xid, message) = Message::decode(&golden.bytes).expect("decodes");
            let mut again = Vec::new();
            rebuild::message(message).encode(xid, &mut again).expect("encodes");
            (golden.name, again)
        })
        .unzip();
    let lines = dissect(&messages, &["_ws.malformed", "openflow_v4.xid"]);
    assert_eq!(lines.len(), names.len());
    for (line, name) in lines.iter().zip(names) {
        assert!(line.starts_with('\t') && line.len() > 1, "{name}: {line}");
    }
}

#[test]
fn the_fields_of_a_flow_are_those_that_were_written() {
    let fields = [
        OxmField::EthType(EthType::IPV6),
        OxmField::IpProto(6),
        OxmField::TcpFlags(Masked::new(TcpFlags::SYN, TcpFlags::SYN | TcpFlags::ACK)),
    ];
    let Message::FlowMod(plain) = flow(300, fields, [apply([Action::output(PortNo(9))])]) else {
        unreachable!()
    };
    let bytes = encode(Message::FlowMod(FlowMod { cookie: braid_openflow::Cookie(0xb1), ..plain }));
    let wanted = [
        "openflow_v4.xid",
        "openflow_v4.flowmod.cookie",
        "openflow_v4.flowmod.table_id",
        "openflow_v4.flowmod.priority",
        "openflow_v4.oxm.value_ethertype",
        "openflow_v4.oxm.value_ipproto",
        "openflow_v4.oxm_experimenter.experimenter",
        "openflow_v4.action.output.port",
    ];
    let expected = "7\t0x00000000000000b1\t7\t300\t0x86dd\t6\t0x4f4e4600\t9";
    assert_eq!(dissect(&[bytes], &wanted), [expected]);
}

#[test]
fn the_counters_of_a_port_are_those_that_were_written() {
    let stats = PortStats {
        port_no: PortNo(4),
        rx_packets: 1,
        tx_packets: 2,
        rx_bytes: 3,
        tx_bytes: 4,
        rx_dropped: 5,
        tx_dropped: 6,
        rx_errors: 7,
        tx_errors: 8,
        rx_frame_err: 9,
        rx_over_err: 10,
        rx_crc_err: 11,
        collisions: 12,
        duration_sec: 13,
        duration_nsec: 14,
    };
    let reply = MultipartReply::from(ReplyBody::Port(list([stats])));
    let names = [
        "port_no",
        "rx_packets",
        "tx_packets",
        "rx_bytes",
        "tx_bytes",
        "rx_dropped",
        "tx_dropped",
        "rx_errors",
        "tx_errors",
        "rx_frame_error",
        "rx_over_error",
        "rx_crc_error",
        "collisions",
        "duration_sec",
        "duration_nsec",
    ];
    let names: Vec<_> = names.iter().map(|name| format!("openflow_v4.port_stats.{name}")).collect();
    let wanted: Vec<_> = names.iter().map(String::as_str).collect();
    let expected = "4\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14";
    assert_eq!(dissect(&[encode(Message::MultipartReply(reply))], &wanted), [expected]);
}
