//! By whose certificates a standby knows the API of the leader, read again when their file changes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use braid_tls::CredentialsError;
use tracing::{info, warn};
use ureq::tls::TlsConfig;

use super::super::stamps::Stamps;
use super::access::tls;

/// The authorities that sign the certificates of other members' APIs.
#[derive(Clone)]
pub struct ApiTrust(Arc<Shared>);

struct Shared {
    file: PathBuf,
    current: Mutex<Current>,
}

struct Current {
    /// What the file was when it was read last, with or without success.
    stamps: Stamps,
    tls: TlsConfig,
    /// How often it was read with success.
    edition: u64,
}

impl ApiTrust {
    /// Reads their certificates from a file in PEM form.
    ///
    /// # Errors
    ///
    /// The file cannot be read or used.
    pub fn read(authority: &Path) -> Result<Self, CredentialsError> {
        let stamps = Stamps::of([authority]);
        let current = Current { stamps, tls: tls(authority, None)?, edition: 0 };
        Ok(Self(Arc::new(Shared { file: authority.to_owned(), current: Mutex::new(current) })))
    }

    /// What connections to other members' APIs use, and its edition, which rises with each change of the file. A file that
    /// cannot be used changes nothing.
    pub(crate) fn current(&self) -> (u64, TlsConfig) {
        let Shared { file, current } = &*self.0;
        let now = Stamps::of([file.as_path()]);
        let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
        if now != current.stamps {
            current.stamps = now;
            match tls(file, None) {
                Ok(tls) => {
                    info!(file = %file.display(), "the authority of the members' APIs was read again");
                    (current.tls, current.edition) = (tls, current.edition + 1);
                }
                Err(why) => {
                    warn!(%why, "the authority of the members' APIs has changed, and the old one stays in use");
                }
            }
        }
        (current.edition, current.tls.clone())
    }
}

impl fmt::Debug for ApiTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ApiTrust").field(&self.0.file).finish()
    }
}
