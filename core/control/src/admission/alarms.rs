//! Alarms about hosts and peers of the controller: reported at once, then once a second with a count, and remembered for a while.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{Time, following};

use crate::context::Context;
use crate::notice::Notice;
use crate::threat::{AlarmSource, Threat};
use crate::writer::RuleWriter;

/// The interval between two notices of one kind about one source.
const NOTICE_INTERVAL: Duration = Duration::from_secs(1);
/// The greatest number of alarms kept about ports, and about peers; the one that has been quiet for longest is dropped
/// first.
const MAX_ALARMS: usize = 1_024;

/// Alarms by source and kind.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    records: BTreeMap<AlarmKey, Record>,
    /// How many of them are about peers.
    about_peers: usize,
}

/// What distinguishes an alarm from others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AlarmKey {
    /// Where it comes from.
    pub source: AlarmSource,
    /// The kind of the threat: see [`Threat::kind`].
    pub kind: &'static str,
}

#[derive(Debug)]
struct Record {
    alarm: Alarm,
    reported_at: Option<Time>,
    /// The number of incidents since then.
    unreported: u64,
}

/// Forbidden behaviour at a port, or of a peer of the controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alarm {
    /// Where it comes from.
    pub source: AlarmSource,
    /// The last incident.
    pub threat: Threat,
    /// The last incident as text.
    pub text: String,
    /// The time of the first incident.
    pub first_at: Time,
    /// The time of the last incident.
    pub last_at: Time,
    /// The number of incidents.
    pub count: u64,
}

impl Alarm {
    /// Its source and kind.
    pub fn key(&self) -> AlarmKey {
        AlarmKey { source: self.source, kind: self.threat.kind() }
    }
}

impl Alarms {
    /// A source did what it must not, `count` times.
    pub(super) fn raise(&mut self, cx: &mut Context<'_>, source: AlarmSource, threat: Threat, count: u64) {
        let (now, key) = (cx.now, AlarmKey { source, kind: threat.kind() });
        if !self.records.contains_key(&key) {
            self.make_room(source);
            self.about_peers += usize::from(is_peer(source));
            self.records.insert(key, Record::new(now, source, threat.clone()));
        }
        let Some(record) = self.records.get_mut(&key) else { return };
        record.alarm.count = record.alarm.count.saturating_add(count);
        record.unreported = record.unreported.saturating_add(count);
        (record.alarm.last_at, record.alarm.threat) = (now, threat);
        record.tell(now, &mut cx.out);
    }

    /// Reports alarms that were not reported yet. Called once a tick.
    pub(super) fn tick(&mut self, cx: &mut Context<'_>) {
        self.records.values_mut().for_each(|record| record.tell(cx.now, &mut cx.out));
    }

    /// What was done, by source and kind, that follows something of this kind from this source.
    pub(super) fn after(&self, alarm: Option<AlarmKey>) -> impl Iterator<Item = Alarm> {
        let alarms = self.records.range(following(alarm)).map(|(_, record)| &record.alarm);
        alarms.map(|alarm| Alarm { text: alarm.threat.to_string(), ..alarm.clone() })
    }

    /// Drops the oldest alarm if there are too many: peers do not push out what is known of ports, nor the reverse.
    fn make_room(&mut self, source: AlarmSource) {
        let same = |key: &AlarmKey| is_peer(key.source) == is_peer(source);
        let about_ports = self.records.len().saturating_sub(self.about_peers);
        if if is_peer(source) { self.about_peers } else { about_ports } < MAX_ALARMS {
            return;
        }
        let alike = self.records.iter().filter(|(key, _)| same(key));
        let oldest = alike.min_by_key(|(_, record)| record.alarm.last_at).map(|(key, _)| *key);
        if oldest.and_then(|key| self.records.remove(&key)).is_some() && is_peer(source) {
            self.about_peers = self.about_peers.saturating_sub(1);
        }
    }
}

const fn is_peer(source: AlarmSource) -> bool {
    matches!(source, AlarmSource::Peer(_))
}

impl Record {
    const fn new(now: Time, source: AlarmSource, threat: Threat) -> Self {
        let alarm = Alarm { source, threat, text: String::new(), first_at: now, last_at: now, count: 0 };
        Self { alarm, reported_at: None, unreported: 0 }
    }

    fn tell(&mut self, now: Time, out: &mut RuleWriter<'_>) {
        let is_due = self.reported_at.is_none_or(|at| now.since(at) >= NOTICE_INTERVAL);
        if self.unreported > 0 && is_due {
            let (source, threat) = (self.alarm.source, self.alarm.threat.clone());
            out.notice(Notice::Alarm { source, threat, count: std::mem::take(&mut self.unreported) });
            self.reported_at = Some(now);
        }
    }
}
