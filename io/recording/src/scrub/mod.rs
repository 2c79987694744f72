//! Copies of recordings without secrets, for bug reports.
//!
//! | in the recording | in the copy |
//! |---|---|
//! | the key of discovery frames | another one; valid frames are signed with it |
//! | MPTCP keys and tokens | others that belong together in the same way |
//! | HMACs and nonces of joins, cookies of TCP Fast Open | zeros |
//! | payloads of packets | zeros of the same length |
//!
//! Addresses, ports, times, the policy, LLDP of other equipment and the names in alarms stay: without them, a replay would
//! decide differently.

mod frame;
mod identities;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use braid_control::{Event, Fact, Recorded};
use braid_packet::lldp::ProbeKey;

use crate::reader::Events;
use crate::writer::create_private;
use crate::{Header, Line, write_line};
use frame::{Keys, scrub_frame};
use identities::Identities;

/// What a copy has lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scrubbed {
    /// Events in the copy: as many as in the recording.
    pub events: u64,
    /// Packets among them.
    pub packets: u64,
    /// Discovery frames that were signed again.
    pub probes: u64,
    /// MPTCP keys that were replaced.
    pub keys: usize,
}

/// Copies a recording without its secrets. Replaying the copy gives the same decisions.
///
/// `secret` is the discovery key of the copy and `seed` that of its MPTCP keys, both drawn at random. Memory grows with
/// the number of MPTCP connections, not with the file.
///
/// # Errors
///
/// A file cannot be read or written, or a line of the recording is invalid.
pub fn scrub(recording: &Path, copy: &Path, secret: [u8; 32], seed: u64) -> io::Result<Scrubbed> {
    let (header, events) = Events::open(recording)?;
    let mut keys = Keys { old: key_of(&header)?, new: ProbeKey::new(secret) };
    let mut identities = Identities::new(seed);
    for event in events {
        if let Event::PacketIn { data, .. } = event?.event {
            identities.learn(&data);
        }
    }
    let mut out = create_private(copy)?;
    write_line(&mut out, &Header { lldp_key: hex::encode(secret), ..header })?;
    let mut scrubbed = Scrubbed { keys: identities.len(), ..Scrubbed::default() };
    for event in Events::open(recording)?.1 {
        let Recorded { at, mut event } = event?;
        if let Event::PacketIn { data, .. } = &mut event {
            let (frame, is_probe) = scrub_frame(data, &keys, &mut identities);
            *data = Cow::Owned(frame);
            scrubbed.packets += 1;
            scrubbed.probes += u64::from(is_probe);
        }
        if let Event::DiscoveryKey { secret: old } = &mut event {
            keys.old = ProbeKey::new(std::mem::replace(old, secret));
        }
        if let Event::Facts { facts } = &mut event {
            facts.iter_mut().for_each(|fact| scrub_fact(fact, &mut identities));
        }
        write_line(&mut out, &Line { at, event: &event })?;
        scrubbed.events += 1;
    }
    out.flush()?;
    Ok(scrubbed)
}

fn scrub_fact(fact: &mut Fact, identities: &mut Identities) {
    if let Fact::Transfer(transfer) = fact {
        transfer.tokens_mut().for_each(|token| token.0 = identities.token(token.0));
    }
}

fn key_of(header: &Header) -> io::Result<ProbeKey> {
    let mut key = [0; 32];
    hex::decode_to_slice(&header.lldp_key, &mut key)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("line 1: lldp_key: {error}")))?;
    Ok(ProbeKey::new(key))
}
