//! `GET /api/v1/alarms`.

use braid_api::Alarms;
use braid_control::{Alarm, AlarmSource};

use crate::engine::Engine;
use crate::http::replica::Listed;
use crate::http::wire::{peer, port, threat};
use crate::state_copy::Copied;

list_route!(/// Attacks that the controller saw at ports and on its own sockets.
    alarms, "/api/v1/alarms", Alarm, Alarms);

impl Copied for Alarm {
    const PIECE: usize = 16;

    fn following(engine: &Engine, last: Option<&Self>) -> impl Iterator<Item = Self> {
        engine.brain().alarms_after(last.map(|it| (it.source, it.threat.kind())))
    }
}

impl Listed for Alarm {
    type Key = (AlarmSource, String);
    type Wire = braid_api::Alarm;

    fn key(&self) -> (AlarmSource, String) {
        (self.source, self.threat.kind().to_owned())
    }

    fn wire(&self) -> braid_api::Alarm {
        let Self { source, threat: last, text, first_at, last_at, count } = self;
        braid_api::Alarm {
            at: port(*source),
            peer: peer(*source),
            threat: threat(last),
            text: text.clone(),
            first_at: *first_at,
            last_at: *last_at,
            count: *count,
        }
    }
}
