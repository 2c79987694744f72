//! `GET /api/v1/alarms`.

use braid_api::Alarms;
use braid_control::Alarm;
use braid_types::SwitchPort;

use crate::engine::Engine;
use crate::http::replica::Listed;
use crate::http::wire::threat;
use crate::state_copy::Copied;

list_route!(/// Attacks that the controller saw at ports.
    alarms, "/api/v1/alarms", Alarm, Alarms);

impl Copied for Alarm {
    const PIECE: usize = 16;

    fn following(engine: &Engine, last: Option<&Self>) -> impl Iterator<Item = Self> {
        engine.brain().alarms_after(last.map(|it| (it.at, it.threat.kind())))
    }
}

impl Listed for Alarm {
    type Key = (SwitchPort, String);
    type Wire = braid_api::Alarm;

    fn key(&self) -> (SwitchPort, String) {
        (self.at, self.threat.kind().to_owned())
    }

    fn wire(&self) -> braid_api::Alarm {
        let Self { at, threat: last, text, first_at, last_at, count } = self;
        braid_api::Alarm {
            at: *at,
            threat: threat(last),
            text: text.clone(),
            first_at: *first_at,
            last_at: *last_at,
            count: *count,
        }
    }
}
