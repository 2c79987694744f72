//! Certificates by which members know each other, read again when their files change.

use std::fmt;
use std::io;
use std::net::{IpAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use braid_cluster::MemberId;
use braid_tls::{CredentialPaths, Credentials, CredentialsError, PeerCertificate, TlsStream, Transport};
use tracing::{info, warn};

use super::lines::{Lines, prepare, shake_hands};
use crate::certificate_expiry::{Expiry, INTERVAL, warn_of_ends};
use crate::cluster::stamps::Stamps;
use crate::engine;

/// The certificate of a member, and the authority that signs those of all members of its cluster.
///
/// Members prove their names: the certificate of each has it.
#[derive(Clone)]
pub struct MemberTls(Arc<Shared>);

struct Shared {
    paths: CredentialPaths,
    member: MemberId,
    current: Mutex<Current>,
}

struct Current {
    /// What the files were when they were read last, with or without success.
    stamps: Stamps,
    credentials: Credentials,
}

/// Why a member cannot show who it is.
#[derive(Debug, thiserror::Error)]
pub enum MemberTlsError {
    /// A file cannot be read or used.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The certificate is that of another member.
    #[error(
        "{}: the certificate is of {has:?}, and this is member {member}: issue one with the name {member} \
         (subjectAltName DNS, or CN)",
        file.display()
    )]
    OtherName {
        /// The file.
        file: PathBuf,
        /// The first name in the certificate.
        has: String,
        /// The member.
        member: MemberId,
    },
}

impl MemberTls {
    /// Reads and checks all files of a member.
    ///
    /// # Errors
    ///
    /// A file cannot be read or used, or the certificate has not the member's name.
    pub fn read(paths: CredentialPaths, member: &str) -> Result<Self, MemberTlsError> {
        let member = MemberId::new(member);
        let stamps = stamps(&paths);
        let credentials = read(&paths, &member)?;
        let current = Mutex::new(Current { stamps, credentials });
        Ok(Self(Arc::new(Shared { paths, member, current })))
    }

    /// Completes the handshake of a connection that another member opened.
    pub(super) fn accept(&self, stream: TcpStream, deadline: Instant) -> io::Result<TlsStream> {
        let config = self.current().server().map_err(io::Error::other)?;
        let mut stream = TlsStream::accept(stream, config)?;
        shake_hands(&mut stream, deadline)?;
        Ok(stream)
    }

    /// Completes the handshake of a connection to another member.
    pub(super) fn connect(&self, stream: TcpStream, deadline: Instant) -> io::Result<TlsStream> {
        let config = self.current().client().map_err(io::Error::other)?;
        let mut stream = TlsStream::connect(stream, config)?;
        shake_hands(&mut stream, deadline)?;
        Ok(stream)
    }

    /// The credentials, read again if a file has changed. Files that cannot be used change nothing.
    pub(super) fn current(&self) -> Credentials {
        let Shared { paths, member, .. } = &*self.0;
        let now = stamps(paths);
        let mut current = self.lock();
        if now != current.stamps {
            current.stamps = now;
            match read(paths, member) {
                Ok(credentials) => {
                    info!("certificates of the cluster were read again; connections stay");
                    current.credentials = credentials;
                }
                Err(why) => {
                    warn!(%why, "certificates of the cluster have changed, and the old ones stay in use");
                }
            }
        }
        current.credentials.clone()
    }

    /// The ends of the member's certificate and of the authority's.
    pub(crate) fn expiries(&self) -> [Expiry; 2] {
        let Credentials { own, authority, .. } = self.current();
        let member = &self.0.member;
        let whose = [format!("member {member}"), "the authority of the cluster".to_owned()];
        let [first, second] = whose;
        [("member", first, own), ("authority", second, authority)].map(|(holder, whose, certificate)| {
            Expiry {
                holder: holder.to_owned(),
                whose,
                certificate,
                remedy: "issue a new one; it is read once the files have changed",
                address: None,
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Raises alarms about certificates that end; `own` is the address that they name.
pub(crate) async fn follow_certificates(engine: engine::Shared, tls: MemberTls, own: IpAddr) {
    loop {
        warn_of_ends(&engine, own, &tls.expiries());
        tokio::time::sleep(INTERVAL).await;
    }
}

impl fmt::Debug for MemberTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemberTls").field(&self.0.paths).finish()
    }
}

/// A connection after its TLS handshake, if there is one.
#[derive(Debug)]
pub(super) struct Secured {
    pub(super) lines: Lines,
    /// The certificate of the other end, which an authority of the cluster has signed; `None` without TLS.
    certificate: Option<PeerCertificate>,
}

impl Secured {
    /// A connection that another member opened.
    pub(super) fn accept(tls: Option<&MemberTls>, stream: TcpStream, deadline: Instant) -> io::Result<Self> {
        prepare(&stream)?;
        match tls {
            Some(tls) => Ok(Self::over_tls(tls.accept(stream, deadline)?)),
            None => Ok(Self { lines: Lines::new(Transport::Plain(stream)), certificate: None }),
        }
    }

    /// A connection to another member.
    pub(super) fn connect(tls: Option<&MemberTls>, stream: TcpStream, deadline: Instant) -> io::Result<Self> {
        prepare(&stream)?;
        match tls {
            Some(tls) => Ok(Self::over_tls(tls.connect(stream, deadline)?)),
            None => Ok(Self { lines: Lines::new(Transport::Plain(stream)), certificate: None }),
        }
    }

    fn over_tls(stream: TlsStream) -> Self {
        // Both ends ask for one; one that cannot be read has no names.
        let nobody = || PeerCertificate { names: Vec::new(), not_after: std::time::UNIX_EPOCH };
        let certificate = Some(stream.peer_certificate().unwrap_or_else(nobody));
        Self { lines: Lines::new(Transport::Tls(Box::new(stream))), certificate }
    }

    /// Why the other end cannot be this member, if its certificate is of another one.
    pub(super) fn impostor(&self, claims: &MemberId) -> Option<String> {
        let certificate = self.certificate.as_ref().filter(|it| !is_of(it, claims))?;
        let has = certificate.name();
        Some(format!("it says that it is member {claims}, and its certificate is of {has:?}"))
    }
}

fn read(paths: &CredentialPaths, member: &MemberId) -> Result<Credentials, MemberTlsError> {
    let credentials = Credentials::read(paths)?;
    if is_of(&credentials.own, member) {
        return Ok(credentials);
    }
    let (file, has) = (paths.certificate.clone(), credentials.own.name().to_owned());
    Err(MemberTlsError::OtherName { file, has, member: member.clone() })
}

/// Whether a certificate has a member's name; names in certificates are in lower case.
fn is_of(certificate: &PeerCertificate, member: &MemberId) -> bool {
    certificate.names.contains(&member.as_str().to_ascii_lowercase())
}

fn stamps(paths: &CredentialPaths) -> Stamps {
    Stamps::of([&paths.certificate, &paths.key, &paths.authority].map(|file| &**file))
}
