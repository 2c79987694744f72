//! Captured MPTCP handshakes as text, one line per packet.

use std::fmt::Write;

use braid_packet::mptcp::Summary;

use super::super::report::{HandshakeRow, Row};

/// The MPTCP handshakes of a transfer, one line per packet.
pub(super) fn of(row: &Row) -> String {
    let mut text = format!("captured, {} {} > {}:\n", row.mode, row.direction.from, row.direction.to);
    for capture in &row.captures {
        for packet in &capture.handshakes {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {} {} {}", capture.host, capture.interface, line(packet));
        }
    }
    text
}

fn line(packet: &HandshakeRow) -> String {
    let HandshakeRow { at, src, src_port, dst, dst_port, flags, option } = packet;
    format!("{at:9.6} s  {src}:{src_port} > {dst}:{dst_port}  {flags:<7}  {}", words(option))
}

fn words(option: &Summary) -> String {
    let backup = |backup: bool| if backup { ", backup" } else { "" };
    match option {
        Summary::Capable { version, sender, receiver } => {
            let token = |who: &str, token: Option<_>| token.map(|it| format!(", {who} token {it}"));
            let tokens = [token("sender's", *sender), token("receiver's", *receiver)];
            format!("MP_CAPABLE v{}{}", u8::from(*version), tokens.into_iter().flatten().collect::<String>())
        }
        Summary::Join { token, address_id, backup: is } => {
            format!("MP_JOIN token {token}, address {address_id}{}", backup(*is))
        }
        Summary::JoinReply { address_id, backup: is } => {
            format!("MP_JOIN address {address_id}{}", backup(*is))
        }
        Summary::JoinAck => "MP_JOIN".to_owned(),
    }
}
