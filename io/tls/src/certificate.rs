//! What a certificate says: the names of its holder, and when it ends.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The names in a certificate and its end. Says nothing about whether the certificate can be trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerCertificate {
    /// The DNS names of the subject alternative names, then the common name, without duplicates; in lower case.
    pub names: Vec<String>,
    /// The last moment at which it is valid.
    pub not_after: SystemTime,
}

impl PeerCertificate {
    /// Reads a certificate in DER; `None` if it is malformed.
    #[must_use]
    pub fn read(der: &CertificateDer<'_>) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let end = u64::try_from(certificate.validity().not_after.timestamp()).unwrap_or(0);
        let not_after = UNIX_EPOCH.checked_add(Duration::from_secs(end))?;
        Some(Self { names: names(&certificate), not_after })
    }

    /// The name for logs: the first one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.names.first().map_or("without a name", String::as_str)
    }
}

fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let extension = certificate.subject_alternative_name().ok().flatten();
    let alternative = extension.iter().flat_map(|it| &it.value.general_names).filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(*name),
        _ => None,
    });
    let common = certificate.subject().iter_common_name().filter_map(|it| it.as_str().ok());
    let mut names = Vec::new();
    for name in alternative.chain(common).map(str::to_ascii_lowercase) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
