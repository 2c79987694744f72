//! The certificates of OpenFlow connections: when they end, and reading the files again.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use braid_tls::PeerCertificate;
use braid_types::DatapathId;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info};

use super::OpenFlowTls;
use crate::certificate_expiry::{Expiry, INTERVAL, warn_of_ends};
use crate::engine::Shared;

/// The certificates of connected switches.
#[derive(Debug, Default)]
pub(super) struct Connected(Mutex<BTreeMap<DatapathId, (IpAddr, PeerCertificate)>>);

impl Connected {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<DatapathId, (IpAddr, PeerCertificate)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFlowTls {
    /// A switch joins with this certificate.
    pub(crate) fn note_joined(&self, dpid: DatapathId, address: IpAddr, certificate: &PeerCertificate) {
        self.0.connected.lock().insert(dpid, (address, certificate.clone()));
    }

    /// A switch left.
    pub(crate) fn note_left(&self, dpid: DatapathId) {
        self.0.connected.lock().remove(&dpid);
    }

    /// The ends of the own certificate, of the authority's, and of those of connected switches.
    pub(crate) fn expiries(&self) -> Vec<Expiry> {
        let current = self.0.current.read().unwrap_or_else(PoisonError::into_inner);
        let own = [("controller", &current.own), ("authority", &current.authority)];
        let own = own.map(|(holder, certificate)| Expiry {
            holder: holder.to_owned(),
            whose: format!("the {holder}"),
            certificate: certificate.clone(),
            remedy: "issue a new one and send SIGHUP",
            address: None,
        });
        let connected = self.0.connected.lock();
        let switches = connected.iter().map(|(dpid, (address, certificate))| Expiry {
            holder: dpid.to_string(),
            whose: format!("switch {dpid}"),
            certificate: certificate.clone(),
            remedy: "issue a new one and set it in the switch",
            address: Some(*address),
        });
        own.into_iter().chain(switches).collect()
    }
}

/// Raises alarms about certificates that end, and reads the files again at each SIGHUP; invalid files change nothing.
/// `own` is the address that alarms about the own certificates name.
pub(crate) async fn follow(engine: Shared, tls: OpenFlowTls, own: IpAddr) {
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => Some(hangups),
        Err(error) => {
            error!(%error, "cannot install a handler for SIGHUP: OpenFlow certificates will not be reloaded");
            None
        }
    };
    loop {
        warn_of_ends(&engine, own, &tls.expiries());
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            Some(()) = next(&mut hangups) => reload(&tls),
        }
    }
}

async fn next(hangups: &mut Option<Signal>) -> Option<()> {
    match hangups {
        Some(hangups) => hangups.recv().await,
        None => std::future::pending().await,
    }
}

fn reload(tls: &OpenFlowTls) {
    match tls.reload() {
        Ok(()) => info!("OpenFlow certificates and identities reloaded; connections stay where they may"),
        Err(error) => error!("OpenFlow certificates not reloaded, the old ones stay in use: {error}"),
    }
}
