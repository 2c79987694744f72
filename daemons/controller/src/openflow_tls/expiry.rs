//! The end of certificates: what metrics and alarms say about it, and reading the files again.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use braid_control::Threat;
use braid_tls::PeerCertificate;
use braid_types::DatapathId;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info};

use super::{ClaimError, OpenFlowTls};
use crate::engine::Shared;

/// A certificate that ends sooner raises an alarm.
const WARN_BEFORE: Duration = Duration::from_hours(14 * 24);
/// How often the ends of certificates are compared with the clock.
const INTERVAL: Duration = Duration::from_hours(1);
const DAY: u64 = 24 * 60 * 60;

/// The certificates of connected switches.
#[derive(Debug, Default)]
pub(super) struct Connected(Mutex<BTreeMap<DatapathId, (IpAddr, PeerCertificate)>>);

/// The end of one certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expiry {
    /// `controller`, `authority`, or the datapath id of a switch.
    pub(crate) holder: String,
    pub(crate) certificate: PeerCertificate,
    /// The switch's address.
    address: Option<IpAddr>,
}

impl Connected {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<DatapathId, (IpAddr, PeerCertificate)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFlowTls {
    /// A switch joins with this certificate, which may own its datapath id from now on.
    pub(crate) fn note_joined(
        &self,
        dpid: DatapathId,
        address: IpAddr,
        certificate: &PeerCertificate,
    ) -> Result<(), ClaimError> {
        self.0.identities.note_joined(&certificate.names, dpid)?;
        self.0.connected.lock().insert(dpid, (address, certificate.clone()));
        Ok(())
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
            certificate: certificate.clone(),
            address: None,
        });
        let connected = self.0.connected.lock();
        let switches = connected.iter().map(|(dpid, (address, certificate))| Expiry {
            holder: dpid.to_string(),
            certificate: certificate.clone(),
            address: Some(*address),
        });
        own.into_iter().chain(switches).collect()
    }
}

impl Expiry {
    /// The threat if the certificate has ended or will soon.
    fn threat(&self, now: SystemTime) -> Option<Threat> {
        let left = self.certificate.not_after.duration_since(now).unwrap_or_default();
        if left > WARN_BEFORE {
            return None;
        }
        let holder = match self.address {
            Some(_) => format!("switch {}", self.holder),
            None => format!("the {}", self.holder),
        };
        let end = match left.as_secs() {
            0 => "has expired".to_owned(),
            left => format!("expires in {} days", left / DAY),
        };
        let remedy = match self.address {
            Some(_) => "issue a new one and set it in the switch",
            None => "issue a new one and send SIGHUP",
        };
        let name = self.certificate.name();
        Some(Threat::CertificateExpiry {
            why: format!("the certificate {name:?} of {holder} {end}: {remedy}"),
        })
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
        warn_of_ends(&engine, &tls, own);
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

fn warn_of_ends(engine: &Shared, tls: &OpenFlowTls, own: IpAddr) {
    let now = SystemTime::now();
    for expiry in tls.expiries() {
        if let Some(threat) = expiry.threat(now) {
            engine.borrow_mut().raise_alarm(expiry.address.unwrap_or(own), threat, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_raises_an_alarm_two_weeks_before_its_end_and_says_what_to_do() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365);
        let ends_in = |days: u64| Expiry {
            holder: "controller".to_owned(),
            certificate: PeerCertificate {
                names: vec!["ctl".to_owned()],
                not_after: now + Duration::from_hours(24 * days),
            },
            address: None,
        };
        assert_eq!(ends_in(15).threat(now), None);
        let soon = ends_in(3).threat(now).expect("an alarm").to_string();
        assert!(soon.contains("of the controller expires in 3 days: issue a new one"), "{soon}");
        let over = ends_in(0).threat(now).expect("an alarm").to_string();
        assert!(over.contains("has expired"), "{over}");
    }
}
