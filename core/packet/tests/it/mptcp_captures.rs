//! MPTCP handshakes of real transfers, compared field by field with tshark.

use std::collections::HashSet;
use std::fs;

use braid_packet::mptcp::{
    self, FirstData, Handshake, Key, Keys, MpCapable, MpJoin, MptcpOption, Token, Version,
};
use braid_packet::{Frame, TcpFlags};

use crate::common::{capture, capture_path, tshark_pcap};

const TRANSFERS: [&str; 5] =
    ["mptcp-v4-fullmesh", "mptcp-v6-fullmesh", "mptcp-v6-single", "mptcp-v4-checksum", "mptcp-v4-flags"];

const COLUMNS: [&str; 14] = [
    "subtype",
    "version",
    "flags",
    "checksumreq.flags",
    "nomoresubflows.flag",
    "sendkey",
    "recvkey",
    "datalvllen",
    "checksum",
    "backup.flag",
    "addrid",
    "recvtok",
    "sendrand",
    "sendtrunchmac",
];

/// One frame's MPTCP options in the columns and the notation of tshark.
#[derive(Default)]
struct Row([Vec<String>; COLUMNS.len()]);

impl Row {
    fn of(frame: &[u8]) -> Self {
        let mut row = Self::default();
        let frame = Frame::parse(frame).unwrap();
        for option in mptcp::options(frame.tcp().unwrap().options) {
            row.add(&option.unwrap());
        }
        row
    }

    fn add(&mut self, option: &MptcpOption<'_>) {
        match option {
            MptcpOption::Capable(capable) => self.add_capable(capable),
            MptcpOption::Join(join) => self.add_join(join),
            MptcpOption::Raw { subtype, .. } => self.set("subtype", subtype.bits()),
        }
    }

    fn add_capable(&mut self, capable: &MpCapable) {
        self.set("subtype", 0);
        self.set("version", u8::from(capable.version));
        self.set("flags", format!("0x{:02x}", capable.flags.0));
        self.set("checksumreq.flags", u8::from(capable.flags.checksum_required()));
        self.set("nomoresubflows.flag", u8::from(capable.flags.no_join_to_this_address()));
        capable.sender_key().iter().for_each(|key| self.set("sendkey", key.0));
        capable.receiver_key().iter().for_each(|key| self.set("recvkey", key.0));
        if let Keys::Both { data: Some(FirstData { len, checksum }), .. } = capable.keys {
            self.set("datalvllen", len);
            checksum.iter().for_each(|checksum| self.set("checksum", format!("0x{checksum:04x}")));
        }
    }

    fn add_join(&mut self, join: &MpJoin) {
        self.set("subtype", 1);
        match *join {
            MpJoin::Syn { backup, address_id, token, nonce } => {
                self.add_join_flags(backup, address_id, nonce);
                self.set("recvtok", token.0);
            }
            MpJoin::SynAck { backup, address_id, hmac, nonce } => {
                self.add_join_flags(backup, address_id, nonce);
                self.set("sendtrunchmac", hmac);
            }
            MpJoin::Ack { .. } => {}
        }
    }

    /// tshark counts the subtype among the flags of MP_JOIN.
    fn add_join_flags(&mut self, backup: bool, address_id: u8, nonce: u32) {
        self.set("flags", format!("0x{:02x}", 0x10 | u8::from(backup)));
        self.set("backup.flag", u8::from(backup));
        self.set("addrid", address_id);
        self.set("sendrand", nonce);
    }

    fn set(&mut self, column: &str, value: impl ToString) {
        let index = COLUMNS.iter().position(|name| *name == column).unwrap();
        self.0[index].push(value.to_string());
    }
}

fn tshark_columns(name: &str, columns: &[&str]) -> Vec<Vec<String>> {
    tshark_pcap(&fs::read(capture_path(name)).unwrap(), columns)
}

fn handshakes(name: &str) -> Vec<(TcpFlags, Handshake)> {
    let read = |frame: &Vec<u8>| {
        let frame = Frame::parse(frame).unwrap();
        let tcp = frame.tcp().unwrap();
        mptcp::handshake(tcp.options).unwrap().map(|handshake| (tcp.flags, handshake))
    };
    capture(name).iter().filter_map(read).collect()
}

#[test]
fn every_handshake_option_reads_as_tshark_reads_it() {
    for name in TRANSFERS {
        let fields = COLUMNS.map(|column| format!("tcp.options.mptcp.{column}"));
        let theirs = tshark_columns(name, &fields.each_ref().map(String::as_str));
        let frames = capture(name);
        assert_eq!(frames.len(), theirs.len());
        for (number, (frame, theirs)) in frames.iter().zip(&theirs).enumerate() {
            let ours = Row::of(frame).0.map(|values| values.join(","));
            // Beyond the subtype, tshark's columns are ambiguous when other options share them.
            let only_handshake = theirs[0].split(',').all(|subtype| ["0", "1"].contains(&subtype));
            let compared = if only_handshake { COLUMNS.len() } else { 1 };
            assert_eq!(ours[..compared], theirs[..compared], "{name}, frame {}", number + 1);
        }
    }
}

#[test]
fn third_join_segments_carry_the_hmac_that_tshark_prints() {
    for name in TRANSFERS {
        let theirs = tshark_columns(name, &["tcp.options.mptcp.sendhmac"]);
        let theirs: Vec<_> = theirs.into_iter().flatten().filter(|hmac| !hmac.is_empty()).collect();
        let ours = handshakes(name).into_iter().filter_map(|(_, handshake)| match handshake {
            Handshake::Join(MpJoin::Ack { hmac }) => Some(hex::encode(hmac)),
            _ => None,
        });
        assert_eq!(ours.collect::<Vec<_>>(), theirs, "{name}");
    }
}

#[test]
fn tokens_are_those_that_tshark_computes() {
    for name in TRANSFERS {
        let columns = ["tcp.options.mptcp.sendkey", "mptcp.expected_token"];
        let rows = tshark_columns(name, &columns);
        let mut compared = 0;
        for row in rows.iter().filter(|row| row.iter().all(|value| !value.is_empty())) {
            let key = Key(row[0].parse().unwrap());
            assert_eq!(key.token(Version::V1).0.to_string(), row[1], "{name}");
            compared += 1;
        }
        assert!(compared >= 4, "{name} has two connections, with two keys each");
    }
}

#[test]
fn every_join_names_the_key_of_a_syn_ack() {
    for name in ["mptcp-v4-fullmesh", "mptcp-v6-fullmesh", "mptcp-v4-flags"] {
        let mut listeners = HashSet::new();
        let mut joins = Vec::<Token>::new();
        for (flags, handshake) in handshakes(name) {
            match handshake {
                Handshake::Capable(capable) if flags.is_syn_ack() => {
                    listeners.insert(capable.sender_key().unwrap().token(capable.version));
                }
                Handshake::Join(MpJoin::Syn { token, .. }) => joins.push(token),
                _ => {}
            }
        }
        assert_eq!(listeners.len(), 2, "{name}: iperf3 opens a control and a data connection");
        assert!(joins.len() >= 2 && joins.iter().all(|token| listeners.contains(token)), "{name}");
    }
}

#[test]
fn syn_and_syn_ack_have_the_forms_of_version_1() {
    for name in TRANSFERS {
        for (flags, handshake) in handshakes(name) {
            let fits = match handshake {
                Handshake::Capable(capable) if flags.is_syn() => capable.keys == Keys::None,
                Handshake::Capable(capable) if flags.is_syn_ack() => matches!(capable.keys, Keys::Sender(_)),
                Handshake::Capable(capable) => matches!(capable.keys, Keys::Both { .. }),
                Handshake::Join(join) if flags.is_syn() => matches!(join, MpJoin::Syn { .. }),
                Handshake::Join(join) if flags.is_syn_ack() => matches!(join, MpJoin::SynAck { .. }),
                Handshake::Join(join) => matches!(join, MpJoin::Ack { .. }),
            };
            assert!(fits, "{name}: {flags} {handshake:?}");
        }
    }
}

#[test]
fn a_listener_that_takes_no_joins_at_its_address_says_so() {
    let said = |name| {
        let mut listeners = handshakes(name).into_iter().filter(|(flags, _)| flags.is_syn_ack());
        listeners.any(|(_, handshake)| match handshake {
            Handshake::Capable(capable) => capable.flags.no_join_to_this_address(),
            Handshake::Join(_) => false,
        })
    };
    assert!(said("mptcp-v4-flags"));
    assert!(!said("mptcp-v4-fullmesh"));
}

#[test]
fn first_data_carries_a_checksum_where_the_handshake_asks_for_it() {
    let first_data = |name| {
        let data = |(_, handshake)| match handshake {
            Handshake::Capable(MpCapable { keys: Keys::Both { data, .. }, .. }) => data,
            _ => None,
        };
        handshakes(name).into_iter().filter_map(data).collect::<Vec<FirstData>>()
    };
    let with = first_data("mptcp-v4-checksum");
    assert!(!with.is_empty() && with.iter().all(|data| data.checksum.is_some()));
    let without = first_data("mptcp-v6-single");
    assert!(!without.is_empty() && without.iter().all(|data| data.checksum.is_none()));
}
