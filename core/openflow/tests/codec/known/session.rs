//! Messages of the handshake, and asynchronous messages of the switch.

use braid_openflow::{
    AsyncConfig, BufferId, Bytes, Capabilities, ControllerRole, Cookie, Echo, ErrorCode, ErrorMsg,
    Experimenter, ExperimenterId, FlowRemoved, FlowRemovedReason, FlowRemovedReasons, FragHandling, Hello,
    HelloElement, Kbps, MaxLen, Message, Metadata, MeterModFailedCode, OxmField, PacketIn, PacketInReason,
    PacketInReasons, Port, PortConfig, PortFeatures, PortReason, PortReasons, PortState, PortStatus, Role,
    RoleRequestFailedCode, Seconds, SwitchConfig, SwitchFeatures, TableId, Text,
};
use braid_openflow::{BadRequestCode, EthType};
use braid_types::{DatapathId, MacAddr, PortNo};

use super::means;
use crate::support::build::{list, matching};
use crate::support::golden;

#[test]
fn greetings() {
    means("probe.controller_hello", 1, Message::Hello(Hello::V1_3));
    let elements = list([HelloElement::VersionBitmap(list([1 << 1 | 1 << 4]))]);
    means("probe.switch_hello", 1, Message::Hello(Hello { version: 4, elements }));
    means("probe.echo_request", 0, Message::EchoRequest(Echo { data: Bytes(&[]) }));
    let data = Bytes(&[0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]);
    means("by_hand.echo_reply", 6, Message::EchoReply(Echo { data }));
}

#[test]
fn features_and_configuration() {
    let features = SwitchFeatures {
        datapath_id: DatapathId(0xb1),
        n_buffers: 0,
        n_tables: 254,
        auxiliary_id: 0,
        capabilities: Capabilities::FLOW_STATS
            | Capabilities::TABLE_STATS
            | Capabilities::PORT_STATS
            | Capabilities::GROUP_STATS
            | Capabilities::QUEUE_STATS,
        reserved: 0,
    };
    means("show.features_request", 2, Message::FeaturesRequest);
    means("show.features_reply", 2, Message::FeaturesReply(features));
    let config = SwitchConfig { flags: FragHandling::FragNormal, miss_send_len: MaxLen(0) };
    means("show.get_config_request", 5, Message::GetConfigRequest);
    means("show.get_config_reply", 5, Message::GetConfigReply(config));
    let config = SwitchConfig { flags: FragHandling::FragDrop, miss_send_len: MaxLen(0xfffe) };
    means("events.set_config", 3, Message::SetConfig(config));
}

#[test]
fn barriers() {
    means("eth.barrier_request", 7, Message::BarrierRequest);
    means("eth.barrier_reply", 7, Message::BarrierReply);
}

#[test]
fn roles() {
    let role = Role { role: ControllerRole::Master, generation_id: 0xdead_beef };
    means("requests.role_request", 0x10, Message::RoleRequest(role));
    means("requests.role_reply", 0x10, Message::RoleReply(role));
    let request = golden::bytes("requests.role_request.2");
    let error = ErrorCode::RoleRequestFailed(RoleRequestFailedCode::Stale);
    means("requests.error", 0x11, Message::Error(ErrorMsg::refusing(error, &request)));
}

#[test]
fn asynchronous_messages() {
    let config = AsyncConfig {
        packet_in_mask: [PacketInReasons::NO_MATCH | PacketInReasons::ACTION; 2],
        port_status_mask: [PortReasons::ADD | PortReasons::DELETE | PortReasons::MODIFY, PortReasons::NONE],
        flow_removed_mask: [
            FlowRemovedReasons::IDLE_TIMEOUT | FlowRemovedReasons::HARD_TIMEOUT | FlowRemovedReasons::DELETE,
            FlowRemovedReasons::NONE,
        ],
    };
    means("requests.set_async", 0x12, Message::SetAsync(config));
    means("requests.get_async_request", 0x13, Message::GetAsyncRequest);
    means("requests.get_async_reply", 0x13, Message::GetAsyncReply(config));
}

#[test]
fn errors_of_the_switch() {
    let refused = golden::bytes("meter_remark_error.meter_mod");
    let error = ErrorCode::MeterModFailed(MeterModFailedCode::BadBand);
    means("meter_remark_error.error", 2, Message::Error(ErrorMsg::refusing(error, &refused)));
    let refused = golden::bytes("requests.multipart_request");
    let error = ErrorCode::BadRequest(BadRequestCode::BadMultipart);
    means("requests.error.2", 0x17, Message::Error(ErrorMsg::refusing(error, &refused)));
    let refused = golden::bytes("requests.unknown");
    let error = ErrorCode::BadRequest(BadRequestCode::BadType);
    means("requests.error.3", 0x18, Message::Error(ErrorMsg::refusing(error, &refused)));
}

#[test]
fn messages_of_nicira() {
    let data = Bytes(&[0, 0, 0, 0]);
    let message = Experimenter { experimenter: ExperimenterId::NICIRA, exp_type: 16, data };
    means("events.experimenter", 5, Message::Experimenter(message));
}

#[test]
fn packets_for_the_controller() {
    let bytes = golden::bytes("events.packet_in");
    let frame = &bytes[bytes.len() - 62..];
    let packet = PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: 62,
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(0xc0),
        matching: matching([OxmField::InPort(PortNo(1))]),
        data: Bytes(frame),
    };
    means("events.packet_in", 0, Message::PacketIn(packet));
    assert_eq!(packet.in_port(), Some(PortNo(1)));
    let bytes = golden::bytes("by_hand.packet_in_buffered");
    let front = PacketIn {
        buffer_id: BufferId(256),
        total_len: 1500,
        reason: PacketInReason::InvalidTtl,
        table_id: TableId(3),
        cookie: Cookie(u64::MAX),
        matching: matching([
            OxmField::InPort(PortNo(2)),
            OxmField::InPhyPort(PortNo(9)),
            OxmField::Metadata(Metadata(0xff).into()),
            OxmField::TunnelId(Metadata(0x777).into()),
        ]),
        data: Bytes(&bytes[bytes.len() - 16..]),
    };
    means("by_hand.packet_in_buffered", 7, Message::PacketIn(front));
}

#[test]
fn ends_of_flows() {
    let bytes = golden::bytes("events.flow_removed");
    let (_, message) = Message::decode(&bytes).expect("decodes");
    let Message::FlowRemoved(removed) = message else { panic!("{message:?}") };
    let expected = FlowRemoved {
        cookie: Cookie(0),
        priority: 7,
        reason: FlowRemovedReason::HardTimeout,
        table_id: TableId(0),
        idle_timeout: Seconds::PERMANENT,
        hard_timeout: Seconds(1),
        packet_count: 0,
        byte_count: 0,
        matching: matching([OxmField::EthType(EthType::IPV4)]),
        // How long it was is the recording's business.
        duration_sec: removed.duration_sec,
        duration_nsec: removed.duration_nsec,
    };
    assert_eq!(removed.duration().as_secs(), 1);
    means("events.flow_removed", 0, Message::FlowRemoved(expected));
}

#[test]
fn changes_of_ports() {
    let desc = Port {
        port_no: PortNo(2),
        hw_addr: MacAddr::new([2, 0, 0, 0, 1, 2]),
        name: Text::new("s2").expect("short"),
        config: PortConfig::NONE,
        state: PortState::LINK_DOWN,
        curr: PortFeatures::TEN_GB_FD | PortFeatures::COPPER,
        advertised: PortFeatures::NONE,
        supported: PortFeatures::NONE,
        peer: PortFeatures::NONE,
        curr_speed: Kbps(10_000_000),
        max_speed: Kbps(0),
    };
    let reason = PortReason::Modify;
    means("events.port_status.2", 0, Message::PortStatus(PortStatus { reason, desc }));
    let live = Port { state: PortState::LIVE, ..desc };
    means("events.port_status.3", 0, Message::PortStatus(PortStatus { reason, desc: live }));
}

#[test]
fn a_port_whose_name_fills_its_field() {
    let bytes = golden::bytes("by_hand.port_status");
    let (_, message) = Message::decode(&bytes).expect("decodes");
    let Message::PortStatus(PortStatus { reason, desc }) = message else { panic!("{message:?}") };
    assert_eq!((reason, desc.port_no), (PortReason::Delete, PortNo::LOCAL));
    assert_eq!(desc.name.to_string(), "local-port-name1");
    assert_eq!(desc.config, PortConfig::PORT_DOWN | PortConfig::NO_RECV | PortConfig::NO_FWD);
    assert_eq!(desc.state, PortState::LINK_DOWN | PortState::BLOCKED);
    assert_eq!(desc.supported.0, 0x207f);
    assert_eq!((desc.curr_speed, desc.max_speed), (Kbps(1_000_000), Kbps(10_000_000)));
}
