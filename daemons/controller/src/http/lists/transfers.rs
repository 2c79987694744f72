//! `GET /api/v1/transfers`.

use braid_api::{SprayPath, Stream, Transfer, TransferKind, Transfers};
use braid_control::view::{SprayPathView, StreamView, TransferRecord};
use braid_steering::TransferId;

use crate::http::replica::{Listed, Naming};
use crate::state_copy::Keyed;

list_route!(/// Transfers in progress.
    transfers, "/api/v1/transfers", TransferRecord, Transfers);

impl Keyed for TransferRecord {
    type Key = TransferId;

    fn key(&self) -> TransferId {
        self.id
    }
}

impl Listed for TransferRecord {
    type Wire = Transfer;

    fn wire(&self, naming: &Naming) -> Transfer {
        let view = self.view();
        Transfer {
            id: view.id.0,
            kind: kind(view.kind),
            opened_at: view.opened_at,
            streams: view.streams.into_iter().map(|it| stream(it, naming)).collect(),
        }
    }
}

pub(in crate::http) const fn kind(kind: braid_steering::TransferKind) -> TransferKind {
    match kind {
        braid_steering::TransferKind::Mptcp => TransferKind::Mptcp,
        braid_steering::TransferKind::Parallel => TransferKind::Parallel,
        braid_steering::TransferKind::Spray => TransferKind::Spray,
    }
}

fn stream(stream: StreamView, naming: &Naming) -> Stream {
    let spray_paths = stream.spray_paths.into_iter().map(|it| spray_path(it, naming)).collect();
    Stream {
        id: stream.id.0,
        src: stream.src,
        dst: stream.dst,
        src_name: naming.host_with(stream.src),
        dst_name: naming.host_with(stream.dst),
        src_port: stream.src_port,
        dst_port: stream.dst_port,
        path_names: naming.names.path_labels(&stream.path),
        path: stream.path,
        ports: stream.ports,
        spray_paths,
        bytes_sent: stream.bytes_sent,
        bytes_received: stream.bytes_received,
        sent_bps: stream.sent_bps,
        received_bps: stream.received_bps,
    }
}

fn spray_path(path: SprayPathView, naming: &Naming) -> SprayPath {
    let SprayPathView { path, ports, rate_bps, delay_us } = path;
    SprayPath { path_names: naming.names.path_labels(&path), path, ports, rate_bps, delay_us }
}
