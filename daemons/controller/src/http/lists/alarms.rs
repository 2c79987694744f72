//! `GET /api/v1/alarms`.

use braid_api::Alarms;
use braid_control::{Alarm, AlarmSource};

use crate::engine::Engine;
use crate::http::replica::{Listed, Naming};
use crate::http::wire::{peer, port, threat};
use crate::state_copy::Copied;

list_route!(/// Attacks that the controller saw at ports and on its own sockets.
    alarms, "/api/v1/alarms", Alarm, Alarms);

impl Copied for Alarm {
    const PIECE: usize = 16;

    fn following(engine: &Engine, last: Option<&Self>) -> impl Iterator<Item = Self> {
        engine.brain().alarms_after(last.map(Self::key))
    }
}

impl Listed for Alarm {
    type Key = (AlarmSource, String);
    type Wire = braid_api::Alarm;

    fn key(&self) -> (AlarmSource, String) {
        (self.source, self.threat.kind().to_owned())
    }

    fn wire(&self, naming: &Naming) -> braid_api::Alarm {
        let Self { source, threat: last, first_at, last_at, count, .. } = self;
        braid_api::Alarm {
            at: port(*source),
            at_name: port(*source).map(|at| naming.names.port_label(at)),
            peer: peer(*source),
            threat: threat(last),
            text: last.text(&naming.names).to_string(),
            first_at: *first_at,
            last_at: *last_at,
            count: *count,
        }
    }
}
