//! Alarms about hosts: reported at once, then once a second with a count, and remembered for a while.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{SwitchPort, Time, following};

use crate::context::Context;
use crate::notice::Notice;
use crate::threat::Threat;
use crate::writer::RuleWriter;

/// The interval between two notices of one kind about one port.
const NOTICE_INTERVAL: Duration = Duration::from_secs(1);
/// The greatest number of alarms kept; the one that has been quiet for longest is dropped first.
const MAX_ALARMS: usize = 1_024;

/// Alarms by port and kind.
#[derive(Debug, Default)]
pub(super) struct Alarms(BTreeMap<(SwitchPort, &'static str), Record>);

#[derive(Debug)]
struct Record {
    alarm: Alarm,
    reported_at: Option<Time>,
    /// The number of incidents since then.
    unreported: u64,
}

/// Forbidden behaviour at a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alarm {
    /// The port.
    pub at: SwitchPort,
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

impl Alarms {
    /// Something at a port did what it must not.
    pub(super) fn raise(&mut self, cx: &mut Context<'_>, at: SwitchPort, threat: Threat) {
        let (now, key) = (cx.now, (at, threat.kind()));
        if self.0.len() >= MAX_ALARMS && !self.0.contains_key(&key) {
            self.forget_oldest();
        }
        let record = self.0.entry(key).or_insert_with(|| Record {
            alarm: Alarm {
                at,
                threat: threat.clone(),
                text: String::new(),
                first_at: now,
                last_at: now,
                count: 0,
            },
            reported_at: None,
            unreported: 0,
        });
        record.alarm.count = record.alarm.count.saturating_add(1);
        record.unreported = record.unreported.saturating_add(1);
        (record.alarm.last_at, record.alarm.threat) = (now, threat);
        record.tell(now, &mut cx.out);
    }

    /// Reports alarms that were not reported yet. Called once a tick.
    pub(super) fn tick(&mut self, cx: &mut Context<'_>) {
        self.0.values_mut().for_each(|record| record.tell(cx.now, &mut cx.out));
    }

    /// What was done, by port and kind, that follows something of this kind at this port.
    pub(super) fn after(&self, alarm: Option<(SwitchPort, &'static str)>) -> impl Iterator<Item = Alarm> {
        let alarms = self.0.range(following(alarm)).map(|(_, record)| &record.alarm);
        alarms.map(|alarm| Alarm { text: alarm.threat.to_string(), ..alarm.clone() })
    }

    fn forget_oldest(&mut self) {
        let oldest = self.0.iter().min_by_key(|(_, record)| record.alarm.last_at).map(|(key, _)| *key);
        oldest.and_then(|key| self.0.remove(&key));
    }
}

impl Record {
    fn tell(&mut self, now: Time, out: &mut RuleWriter<'_>) {
        let is_due = self.reported_at.is_none_or(|at| now.since(at) >= NOTICE_INTERVAL);
        if self.unreported > 0 && is_due {
            let (at, threat) = (self.alarm.at, self.alarm.threat.clone());
            out.notice(Notice::Alarm { at, threat, count: std::mem::take(&mut self.unreported) });
            self.reported_at = Some(now);
        }
    }
}
