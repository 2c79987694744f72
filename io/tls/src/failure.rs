//! What went wrong in a handshake, and what to do about it.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

/// The peer's part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A switch, seen by a controller.
    Switch,
    /// A controller, seen by a switch.
    Controller,
    /// A controller, seen by another one of its cluster.
    Member,
}

impl Role {
    const fn peer(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Controller => "controller",
            Self::Member => "member",
        }
    }

    const fn authority(self) -> &'static str {
        match self {
            Self::Switch => "--openflow-tls-ca",
            Self::Controller => "--tls-ca",
            Self::Member => "--cluster-ca",
        }
    }

    /// How it is given a certificate.
    const fn certificate(self) -> &'static str {
        match self {
            Self::Member => "with --cluster-certificate and --cluster-key",
            Self::Switch | Self::Controller => "with ovs-vsctl set-ssl on Open vSwitch",
        }
    }

    /// How it is made to speak TLS.
    const fn encrypted(self) -> &'static str {
        match self {
            Self::Member => "give it --cluster-certificate, --cluster-key and --cluster-ca",
            Self::Switch | Self::Controller => "connect to ssl:, not to tcp:",
        }
    }
}

/// Whether TLS itself has failed: one end does not trust the other, or does not speak TLS.
#[must_use]
pub fn is_tls_failure(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).is_some()
}

/// The reason for which the connection with `peer` failed, and the remedy.
#[must_use]
pub fn explain(peer: Role, error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(error) => explain_tls(peer, error),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            format!("the {} closed the connection during the TLS handshake", peer.peer())
        }
        None => format!("the TLS handshake failed: {error}"),
    }
}

fn explain_tls(peer: Role, error: &Error) -> String {
    let who = peer.peer();
    match error {
        Error::NoCertificatesPresented => {
            format!("the {who} has no certificate: give it one, {}", peer.certificate())
        }
        Error::InvalidCertificate(error) => invalid(peer, error),
        Error::AlertReceived(alert) => alerted(peer, *alert),
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => {
            format!("the {who} does not speak TLS here: {}", peer.encrypted())
        }
        Error::PeerIncompatible(why) => {
            format!("the {who} and this program share no version or cipher of TLS: {why:?}")
        }
        other => format!("the TLS handshake failed: {other}"),
    }
}

fn invalid(peer: Role, error: &CertificateError) -> String {
    let (who, option) = (peer.peer(), peer.authority());
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate of the {who} is not signed by an authority in {option}: sign it anew, or add its authority \
             to that file"
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("the certificate of the {who} has expired: issue a new one")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!("the certificate of the {who} is not valid yet: compare the clocks of both machines")
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => format!(
            "the certificate of the {who} is for another purpose: issue one whose extended key usage, if any, permits \
             the part of a {who}"
        ),
        CertificateError::Other(other) if other.to_string().contains("UnsupportedCertVersion") => format!(
            "the certificate of the {who} is of X.509 version 1: issue one of version 3, as ovs-pki of Open \
             vSwitch 3.1 does"
        ),
        other => format!("the certificate of the {who} is refused: {other}"),
    }
}

fn alerted(peer: Role, alert: AlertDescription) -> String {
    let who = peer.peer();
    match alert {
        AlertDescription::UnknownCA | AlertDescription::BadCertificate | AlertDescription::DecryptError => {
            format!(
                "the {who} does not trust this program's certificate ({alert:?}): give it the authority that signed it"
            )
        }
        AlertDescription::CertificateExpired => {
            format!("the {who} says that this program's certificate has expired: issue a new one")
        }
        other => format!("the {who} refused the TLS handshake: {other:?}"),
    }
}
