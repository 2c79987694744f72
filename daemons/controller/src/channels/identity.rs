//! What a switch has proved about itself, and whether it may be the datapath that it claims to be.

use std::net::IpAddr;

use braid_tls::PeerCertificate;
use braid_types::DatapathId;

use crate::openflow_tls::{ClaimError, OpenFlowTls};

/// What a connection has proved, and the rules for it.
#[derive(Debug)]
pub(super) struct Identity {
    tls: OpenFlowTls,
    proof: Proof,
    /// The claim that was checked last.
    checked: Option<DatapathId>,
}

#[derive(Debug)]
enum Proof {
    None,
    Certificate(PeerCertificate),
    /// The standby through which the switch is reached says that its certificate has these names.
    Reported(Vec<String>),
}

impl Identity {
    pub(super) fn new(tls: OpenFlowTls, certificate: Option<PeerCertificate>) -> Self {
        Self { tls, proof: certificate.map_or(Proof::None, Proof::Certificate), checked: None }
    }

    /// That of a switch which has proved it to a standby: the names of its certificate, if it has one.
    pub(super) fn reported(tls: OpenFlowTls, names: Option<Vec<String>>) -> Self {
        Self { tls, proof: names.map_or(Proof::None, Proof::Reported), checked: None }
    }

    /// The names of the certificate, if there is one.
    pub(super) fn names(&self) -> Option<&[String]> {
        match &self.proof {
            Proof::None => None,
            Proof::Certificate(certificate) => Some(&certificate.names),
            Proof::Reported(names) => Some(names),
        }
    }

    /// Checks a claim as soon as there is one, and again if it changes.
    pub(super) fn check(&mut self, claimed: Option<DatapathId>) -> Result<(), ClaimError> {
        if let Some(dpid) = claimed
            && self.checked != claimed
        {
            self.check_again(dpid)?;
            self.checked = claimed;
        }
        Ok(())
    }

    /// Checks the claim of a switch that has joined, after what may be claimed has changed.
    pub(super) fn check_again(&self, dpid: DatapathId) -> Result<(), ClaimError> {
        self.tls.check_claim(self.names(), dpid)
    }

    /// Gives the switch its datapath id, for this connection and later ones.
    pub(super) fn give(&self, dpid: DatapathId) -> Result<(), ClaimError> {
        self.names().map_or(Ok(()), |names| self.tls.give(dpid, names))
    }

    pub(super) fn note_joined(&self, dpid: DatapathId, address: IpAddr) {
        if let Proof::Certificate(certificate) = &self.proof {
            self.tls.note_joined(dpid, address, certificate);
        }
    }

    pub(super) fn note_left(&self, dpid: DatapathId) {
        if let Proof::Certificate(_) = &self.proof {
            self.tls.note_left(dpid);
        }
    }
}
