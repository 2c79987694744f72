//! `GET /api/v1/alarms`.

use braid_api::Alarms;
use braid_control::{Alarm, AlarmKey, AlarmSource};

use crate::engine::Engine;
use crate::http::replica::{Listed, Naming};
use crate::http::wire::{peer, port, threat};
use crate::state_copy::{Copied, Keyed};

list_route!(/// Attacks that the controller saw at ports and on its own sockets.
    alarms, "/api/v1/alarms", Alarm, Alarms);

impl Copied for Alarm {
    const PIECE: usize = 16;

    fn following(engine: &Engine, after: Option<(AlarmSource, String)>) -> impl Iterator<Item = Self> {
        // Clients name kinds that there may be none of.
        let source = after.as_ref().map(|(source, _)| AlarmKey { source: *source, kind: "" });
        let alarms = engine.brain().alarms_after(source);
        alarms.skip_while(move |it| after.as_ref().is_some_and(|after| Keyed::key(it) <= *after))
    }
}

impl Keyed for Alarm {
    type Key = (AlarmSource, String);

    fn key(&self) -> (AlarmSource, String) {
        (self.source, self.threat.kind().to_owned())
    }
}

impl Listed for Alarm {
    type Wire = braid_api::Alarm;

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
