//! The end of certificates: what metrics say of it, and the alarms before it.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use braid_control::Threat;
use braid_tls::PeerCertificate;

use crate::engine::Shared;

/// A certificate that ends sooner raises an alarm.
const WARN_BEFORE: Duration = Duration::from_hours(14 * 24);
/// How often the ends of certificates are compared with the clock.
pub(crate) const INTERVAL: Duration = Duration::from_hours(1);
const DAY: u64 = 24 * 60 * 60;

/// The end of one certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expiry {
    /// The holder's name in metrics.
    pub(crate) holder: String,
    /// The holder's name in texts.
    pub(crate) whose: String,
    pub(crate) certificate: PeerCertificate,
    /// What to do before it ends.
    pub(crate) remedy: &'static str,
    /// The holder's address; `None`: it is this controller.
    pub(crate) address: Option<IpAddr>,
}

impl Expiry {
    /// The threat if the certificate has ended or will soon.
    fn threat(&self, now: SystemTime) -> Option<Threat> {
        let left = self.certificate.not_after.duration_since(now).unwrap_or_default();
        if left > WARN_BEFORE {
            return None;
        }
        let end = match left.as_secs() {
            0 => "has expired".to_owned(),
            left => format!("expires in {} days", left / DAY),
        };
        let Self { whose, remedy, certificate, .. } = self;
        let name = certificate.name();
        Some(Threat::CertificateExpiry {
            why: format!("the certificate {name:?} of {whose} {end}: {remedy}"),
        })
    }
}

/// Raises alarms about certificates that end. `own` is the address that alarms about the own ones name.
pub(crate) fn warn_of_ends(engine: &Shared, own: IpAddr, certificates: &[Expiry]) {
    let now = SystemTime::now();
    for expiry in certificates {
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
            whose: "the controller".to_owned(),
            certificate: PeerCertificate {
                names: vec!["ctl".to_owned()],
                not_after: now + Duration::from_hours(24 * days),
            },
            remedy: "issue a new one",
            address: None,
        };
        assert_eq!(ends_in(15).threat(now), None);
        let soon = ends_in(3).threat(now).expect("an alarm").to_string();
        assert!(soon.contains("of the controller expires in 3 days: issue a new one"), "{soon}");
        let over = ends_in(0).threat(now).expect("an alarm").to_string();
        assert!(over.contains("has expired"), "{over}");
    }
}
