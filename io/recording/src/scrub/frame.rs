//! Frames without secrets: discovery frames are signed again, MPTCP options replaced, payloads zeroed.

use std::ops::Range;

use braid_packet::lldp::{LldpProbe, ProbeKey};
use braid_packet::mptcp::OPTION_KIND;
use braid_packet::{Frame, Ip, Payload, TcpOption, TcpOptions, Transport};

use super::identities::Identities;

/// The Ethernet header before the payload of an untagged frame.
const ETHERNET: usize = 14;
/// The cookie of TCP Fast Open. RFC 7413 §4.1.1.
const FAST_OPEN: u8 = 34;
/// MPTCP subtypes, the upper half of an option's third byte. RFC 8684 §3.
const MP_CAPABLE: u8 = 0;
const MP_JOIN: u8 = 1;

/// The discovery keys of the recording and of its copy.
pub(super) struct Keys {
    pub(super) old: ProbeKey,
    pub(super) new: ProbeKey,
}

/// The frame without secrets, and whether it is a valid discovery frame.
pub(super) fn scrub_frame(data: &[u8], keys: &Keys, identities: &mut Identities) -> (Vec<u8>, bool) {
    let mut scrubbed = data.to_vec();
    let Ok(frame) = Frame::parse(data) else {
        zero(&mut scrubbed, ETHERNET..data.len());
        return (scrubbed, false);
    };
    match &frame.payload {
        Payload::Arp(_) => {}
        Payload::Lldp(pdu) => return sign_again(data, pdu, &frame, keys),
        Payload::Ip(ip) => scrub_ip(&mut scrubbed, data, ip, identities),
        Payload::Other(rest) => zero_from(&mut scrubbed, place(data, rest)),
    }
    (scrubbed, false)
}

/// A valid discovery frame under the new key; others are invalid under the new key too.
fn sign_again(data: &[u8], pdu: &[u8], frame: &Frame<'_>, keys: &Keys) -> (Vec<u8>, bool) {
    let (Ok(probe), Some(at)) = (LldpProbe::decode(pdu, &keys.old), place(data, pdu)) else {
        return (data.to_vec(), false);
    };
    let signed = probe.encode(&keys.new, frame.src);
    let head = data.get(..at.start).unwrap_or_default();
    ([head, signed.get(ETHERNET..).unwrap_or_default()].concat(), true)
}

fn scrub_ip(scrubbed: &mut [u8], data: &[u8], ip: &Ip<'_>, identities: &mut Identities) {
    match &ip.transport {
        Transport::Tcp(tcp) => {
            let Some(options) = place(data, tcp.options) else { return };
            for option in TcpOptions::new(tcp.options) {
                match option {
                    Ok(option) => scrub_option(scrubbed, data, option, identities),
                    // Nobody knows what the rest is.
                    Err(_) => zero(scrubbed, options.clone()),
                }
            }
            zero(scrubbed, options.end..data.len());
        }
        Transport::Udp(udp) => zero_from(scrubbed, place(data, udp.payload)),
        // Neighbour discovery.
        Transport::Icmpv6(_) => {}
        Transport::Other => zero(scrubbed, end_of_ip_header(data)..data.len()),
    }
}

fn scrub_option(scrubbed: &mut [u8], data: &[u8], option: TcpOption<'_>, identities: &mut Identities) {
    let Some(at) = place(data, option.data) else { return };
    match (option.kind, option.data) {
        (FAST_OPEN, _) => zero(scrubbed, at),
        (OPTION_KIND, [head, ..]) => match (head >> 4, option.data.len()) {
            (MP_CAPABLE, _) => replace_keys(scrubbed, &at, identities),
            // A SYN's: subtype, address, token, nonce.
            (MP_JOIN, 10) => {
                replace_token(scrubbed, at.start + 2, identities);
                zero(scrubbed, at.start + 6..at.end);
            }
            // HMACs and nonces.
            (MP_JOIN, _) => zero(scrubbed, at.start + 2..at.end),
            _ => zero(scrubbed, at.start + 1..at.end),
        },
        _ => {}
    }
}

/// Two bytes, then up to two keys, then perhaps the length and checksum of data.
fn replace_keys(scrubbed: &mut [u8], option: &Range<usize>, identities: &mut Identities) {
    for start in [option.start + 2, option.start + 10] {
        let key = scrubbed.get_mut(start..option.end).and_then(|rest| rest.first_chunk_mut());
        if let Some(key) = key {
            *key = identities.key(u64::from_be_bytes(*key)).to_be_bytes();
        }
    }
    zero(scrubbed, (option.start + 18).min(option.end)..option.end);
}

fn replace_token(scrubbed: &mut [u8], start: usize, identities: &mut Identities) {
    if let Some(token) = scrubbed.get_mut(start..).and_then(|rest| rest.first_chunk_mut()) {
        *token = identities.token(u32::from_be_bytes(*token)).to_be_bytes();
    }
}

/// Where the IP header of a frame ends, whatever follows it.
fn end_of_ip_header(data: &[u8]) -> usize {
    let tagged = |at: usize| matches!(data.get(at..at + 2), Some([0x81 | 0x91, 0x00] | [0x88, 0xa8]));
    let tags = [12, 16].into_iter().take_while(|at| tagged(*at)).count();
    let start = ETHERNET + 4 * tags;
    match data.get(start) {
        Some(first) if first >> 4 == 4 => start + 4 * usize::from(first & 0xf),
        _ => start + 40,
    }
}

/// Where `part`, a slice of `whole`, lies in it.
fn place(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

fn zero_from(data: &mut [u8], part: Option<Range<usize>>) {
    if let Some(part) = part {
        let end = data.len();
        zero(data, part.start..end);
    }
}

fn zero(data: &mut [u8], part: Range<usize>) {
    if let Some(part) = data.get_mut(part) {
        part.fill(0);
    }
}
