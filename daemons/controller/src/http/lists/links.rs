//! `GET /api/v1/links`.

use braid_api::{DegradedLink, Link, LinkCounters, LinkDelay, Links};
use braid_control::view::{DegradedView, LinkCounts, LinkView};
use braid_types::SwitchPort;

use crate::engine::Engine;
use crate::http::replica::{Listed, Naming};
use crate::http::wire::evidence;
use crate::state_copy::{Copied, Keyed};

list_route!(/// Links between switches, each direction by itself.
    links, "/api/v1/links", LinkView, Links);

impl Copied for LinkView {
    const PIECE: usize = 16;

    fn following(engine: &Engine, after: Option<SwitchPort>) -> impl Iterator<Item = Self> {
        engine.brain().links_after(after)
    }
}

impl Keyed for LinkView {
    type Key = SwitchPort;

    fn key(&self) -> SwitchPort {
        self.src
    }
}

impl Listed for LinkView {
    type Wire = Link;

    fn wire(&self, naming: &Naming) -> Link {
        let LinkCounts { bytes, packets, dropped, errors } = self.counters;
        Link {
            src: self.src,
            dst: self.dst,
            src_name: naming.names.port_label(self.src),
            dst_name: naming.names.port_label(self.dst),
            capacity_bps: self.capacity_bps,
            measured_capacity_bps: self.measured_capacity_bps,
            measured_capacity_at: self.measured_capacity_at,
            delay_us: self.delay_us.map(|it| LinkDelay {
                base: it.base,
                current: it.current,
                p50: it.p50,
                p99: it.p99,
            }),
            delay_at: self.delay_at,
            load_bps: self.load_bps,
            available_bps: self.available_bps,
            load_at: self.load_at,
            loss: self.loss,
            loss_at: self.loss_at,
            degraded: self.degraded.map(degraded),
            counters: LinkCounters { bytes, packets, dropped, errors },
        }
    }
}

fn degraded(link: DegradedView) -> DegradedLink {
    let DegradedView { since, evidence, clean_since, hold } = link;
    let hold_us = u64::try_from(hold.as_micros()).unwrap_or(u64::MAX);
    DegradedLink { since, evidence: self::evidence(evidence), clean_since, hold_us }
}
