//! Authorities and the certificates that they sign.

use anyhow::Context;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// An authority of the cluster.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// Its key as PEM.
    pub(super) key: String,
}

/// A certificate with its key, both as PEM.
pub(super) struct Issued {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new(name: &str) -> anyhow::Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, format!("{name} of braid"));
        let pair = KeyPair::generate().context("making a key")?;
        let key = pair.serialize_pem();
        let issuer = CertifiedIssuer::self_signed(params, pair).context("making an authority")?;
        Ok(Self { issuer, key })
    }

    /// Its certificate as PEM.
    pub(super) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate of this common name, valid for these names and addresses.
    pub(super) fn sign(&self, name: &str, of: &[&str]) -> anyhow::Result<Issued> {
        let names: Vec<_> = of.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).context("making a certificate")?;
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().context("making a key")?;
        let signed = params.signed_by(&key, &self.issuer).context("signing a certificate")?;
        Ok(Issued { certificate: signed.pem(), key: key.serialize_pem() })
    }
}
