//! What an emulated switch says of itself.

use braid_openflow::{
    Capabilities, Cookie, Desc, FlowModFlags, FlowStats, Kbps, List, Match, Message, MultipartFlags,
    MultipartReply, Port, PortConfig, PortFeatures, PortState, PortStats, ReplyBody, Seconds, SwitchFeatures,
    TableId, Text,
};
use braid_types::{DatapathId, MacAddr, PortNo};

/// The table of streams.
pub(super) const STREAM_TABLE: u8 = 1;

pub(super) fn features(datapath_id: DatapathId) -> SwitchFeatures {
    SwitchFeatures {
        datapath_id,
        n_buffers: 0,
        n_tables: 254,
        auxiliary_id: 0,
        capabilities: Capabilities::FLOW_STATS,
        reserved: 0,
    }
}

pub(super) fn description() -> Desc<'static> {
    let (nothing, none) = (Text::default(), Text::default());
    let sw_desc = Text::new("braid openflow load").unwrap_or_default();
    Desc { mfr_desc: nothing, hw_desc: nothing, sw_desc, serial_num: none, dp_desc: nothing }
}

pub(super) fn port(dpid: DatapathId, number: PortNo) -> Port<'static> {
    let mac = 0x0600_0000_0000 | (dpid.0 & 0xff_ffff) << 16 | u64::from(number.0 & 0xffff);
    Port {
        port_no: number,
        hw_addr: MacAddr::from_u64(mac),
        name: Text::new("p").unwrap_or_default(),
        config: PortConfig::NONE,
        state: PortState::LIVE,
        curr: PortFeatures::NONE,
        advertised: PortFeatures::NONE,
        supported: PortFeatures::NONE,
        peer: PortFeatures::NONE,
        curr_speed: Kbps(1_000_000),
        max_speed: Kbps(1_000_000),
    }
}

/// What a port has carried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortCounts {
    pub(super) sent: FrameCount,
    pub(super) received: FrameCount,
}

/// A number of frames, and their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameCount {
    frames: u64,
    bytes: u64,
}

impl FrameCount {
    pub(super) const fn add(&mut self, frame: &[u8]) {
        self.frames += 1;
        self.bytes += frame.len() as u64;
    }
}

/// Counters of a port.
pub(super) fn port_counters(port_no: PortNo, counts: &PortCounts, seconds: u32) -> PortStats {
    PortStats {
        port_no,
        rx_packets: counts.received.frames,
        tx_packets: counts.sent.frames,
        rx_bytes: counts.received.bytes,
        tx_bytes: counts.sent.bytes,
        rx_dropped: 0,
        tx_dropped: 0,
        rx_errors: 0,
        tx_errors: 0,
        rx_frame_err: 0,
        rx_over_err: 0,
        rx_crc_err: 0,
        collisions: 0,
        duration_sec: seconds,
        duration_nsec: 0,
    }
}

/// A packet more at each reading.
pub(super) fn counted(cookie: u64, packets: u64) -> FlowStats<'static> {
    FlowStats {
        table_id: TableId(STREAM_TABLE),
        duration_sec: 1,
        duration_nsec: 0,
        priority: 50,
        idle_timeout: Seconds(60),
        hard_timeout: Seconds(0),
        flags: FlowModFlags::SEND_FLOW_REM,
        cookie: Cookie(cookie),
        packet_count: packets,
        byte_count: packets * 74,
        matching: Match::ANY,
        instructions: List::EMPTY,
    }
}

pub(super) fn reply(flags: MultipartFlags, body: ReplyBody<'_>) -> Message<'_> {
    Message::MultipartReply(MultipartReply { flags, body })
}
