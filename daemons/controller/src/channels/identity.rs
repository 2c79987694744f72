//! What a switch has proved about itself, and whether it may be the datapath that it claims to be.

use std::net::IpAddr;

use braid_tls::PeerCertificate;
use braid_types::DatapathId;

use crate::openflow_tls::{ClaimError, OpenFlowTls};

/// The certificate of a connection, if it has one, and the rules for it.
#[derive(Debug)]
pub(super) struct Identity {
    tls: OpenFlowTls,
    certificate: Option<PeerCertificate>,
    /// The claim that was checked last.
    checked: Option<DatapathId>,
}

impl Identity {
    pub(super) const fn new(tls: OpenFlowTls, certificate: Option<PeerCertificate>) -> Self {
        Self { tls, certificate, checked: None }
    }

    /// Checks a claim as soon as there is one, and again if it changes.
    pub(super) fn check(&mut self, claimed: Option<DatapathId>) -> Result<(), ClaimError> {
        if let Some(dpid) = claimed
            && self.checked != claimed
        {
            self.tls.check_claim(self.certificate.as_ref(), dpid)?;
            self.checked = claimed;
        }
        Ok(())
    }

    /// Checks the claim of a switch that has joined, after the files were read again.
    pub(super) fn check_again(&self, dpid: DatapathId) -> Result<(), ClaimError> {
        self.tls.check_claim(self.certificate.as_ref(), dpid)
    }

    pub(super) fn note_joined(&self, dpid: DatapathId, address: IpAddr) -> Result<(), ClaimError> {
        let Some(certificate) = &self.certificate else { return Ok(()) };
        self.tls.note_joined(dpid, address, certificate)
    }

    pub(super) fn note_left(&self, dpid: DatapathId) {
        self.tls.note_left(dpid);
    }
}
