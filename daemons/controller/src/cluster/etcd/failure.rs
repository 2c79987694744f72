//! Failures of requests to etcd, and what to do about them.

use std::io;

use tokio_rustls::rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::super::store_url::host_of;
use super::access::StoreAccess;

/// A request that failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(in crate::cluster) enum EtcdError {
    /// No server answers.
    #[error("{0}")]
    Unreachable(String),
    /// A server lets this member not in, or one is not trusted: nothing changes by itself.
    #[error("{0}")]
    Denied(String),
    /// A server refuses what is asked for.
    #[error("{0}")]
    Refused(String),
}

/// What a server's answer says about a log-in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LoginState {
    /// It asks for one, or for another one.
    Needed,
    /// It refuses the user or the password.
    Refused,
    Other,
}

impl LoginState {
    /// The state that an error of etcd names.
    pub(super) fn of(error: &str) -> Self {
        // `revision of auth store is old`: users or roles have changed since the log-in.
        let needed = ["user name is empty", "invalid auth token", "revision of auth store is old"];
        match error {
            _ if needed.iter().any(|it| error.contains(it)) => Self::Needed,
            _ if error.contains("authentication failed") => Self::Refused,
            _ => Self::Other,
        }
    }
}

/// One server, and how it is reached.
#[derive(Clone, Copy)]
pub(super) struct Server<'a> {
    pub(super) endpoint: &'a str,
    pub(super) access: &'a StoreAccess,
    /// The keys that members read and write begin so.
    pub(super) prefix: &'a str,
}

impl Server<'_> {
    /// The failure that an error in a server's answer is.
    pub(super) fn refused(&self, error: &str) -> EtcdError {
        let login = self.access.login.as_ref();
        let why = match (LoginState::of(error), login) {
            (LoginState::Needed, None) => {
                "it asks for a user: give --cluster-etcd-user and --cluster-etcd-password-file".to_owned()
            }
            (LoginState::Refused, Some(login)) => {
                format!("it refuses user {:?} with the password in {}", login.user, login.file.display())
            }
            _ if error.contains("permission denied") => {
                let (user, prefix) = (login.map_or("", |it| &it.user), self.prefix);
                format!(
                    "user {user:?} may not read and write the keys of {prefix}: etcdctl role grant-permission ROLE \
                     readwrite --prefix=true {prefix}, for a role of that user"
                )
            }
            // Without a quorum another server may do it.
            _ if error.contains("lease") => return EtcdError::Refused(error.to_owned()),
            _ => return EtcdError::Unreachable(self.says(error)),
        };
        EtcdError::Denied(self.says(&why))
    }

    /// The failure that an answer without JSON is.
    pub(super) fn foreign(&self, text: &str) -> EtcdError {
        let why = if text.contains("CommonName of client") {
            "it takes passwords over HTTP only with client certificates that have no common name: issue one without \
             CN for --cluster-etcd-certificate"
        } else if text.contains("HTTPS") {
            "it speaks TLS: write etcds:// in --cluster"
        } else {
            return EtcdError::Unreachable(self.says("its answer is not that of etcd"));
        };
        EtcdError::Denied(self.says(why))
    }

    /// The failure of a connection.
    pub(super) fn failed(&self, error: &ureq::Error) -> EtcdError {
        match (tls_error(error), error) {
            (Some(error), _) => EtcdError::Denied(self.says(&self.explain_tls(error))),
            (None, ureq::Error::Io(source)) if was_closed(source) => {
                EtcdError::Unreachable(self.says(&format!("{source}; {}", self.closing_hint())))
            }
            _ => EtcdError::Unreachable(self.says(&error.to_string())),
        }
    }

    fn says(&self, why: &str) -> String {
        format!("{}: {why}", self.endpoint)
    }

    /// What an end without an answer may mean.
    fn closing_hint(&self) -> &'static str {
        match (&self.access.tls, &self.access.files.certificate) {
            (None, _) => "if it speaks TLS, write etcds:// in --cluster",
            (Some(_), None) => {
                "if it asks for certificates, give --cluster-etcd-certificate; if it speaks no TLS, write etcd://"
            }
            (Some(_), Some(_)) => {
                "it may not trust the authority of --cluster-etcd-certificate; if it speaks no TLS, write etcd://"
            }
        }
    }

    fn explain_tls(&self, error: &TlsError) -> String {
        match error {
            TlsError::InvalidCertificate(error) => self.explain_certificate(error),
            TlsError::AlertReceived(alert) => self.explain_alert(*alert),
            TlsError::InvalidMessage(_) => "it does not speak TLS: write etcd:// in --cluster".to_owned(),
            other => format!("the TLS handshake failed: {other}"),
        }
    }

    fn explain_certificate(&self, error: &CertificateError) -> String {
        let file = self.access.files.authority.as_deref().unwrap_or("".as_ref()).display();
        match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                format!("its certificate is not signed by an authority in {file} (--cluster-etcd-ca)")
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired: issue a new one".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet: compare the clocks of both machines".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
                "its certificate is not for {}: issue one with that name or address (subjectAltName), or write in \
                 --cluster what it has",
                host_of(self.endpoint)
            ),
            other => format!("its certificate is not trusted: {other}"),
        }
    }

    fn explain_alert(&self, alert: AlertDescription) -> String {
        match (alert, &self.access.files.certificate) {
            (AlertDescription::CertificateRequired | AlertDescription::BadCertificate, None) => {
                "it asks for a certificate: give --cluster-etcd-certificate and --cluster-etcd-key".to_owned()
            }
            (alert, Some(file)) => format!(
                "it refuses the certificate in {} ({alert:?}): its --trusted-ca-file must have the authority that \
                 signed it",
                file.display()
            ),
            (alert, None) => format!("it refuses the connection: {alert:?}"),
        }
    }
}

fn was_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof)
}

fn tls_error(error: &ureq::Error) -> Option<&TlsError> {
    match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref().and_then(|inner| inner.downcast_ref()),
        _ => None,
    }
}
