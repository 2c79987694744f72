//! Files of private keys, which only their owner reads.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use braid_tunnel::PrivateKey;

use crate::config::ConfigError;

/// Reads a private key.
///
/// # Errors
///
/// There is none, or others may read it.
pub fn read(path: &Path) -> Result<PrivateKey, ConfigError> {
    let refuse = |what: String| ConfigError::Key { file: path.to_owned(), what };
    let name = path.file_name().unwrap_or_default().display().to_string();
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            refuse(format!("there is no such file; `braid site keygen {name}` makes a key"))
        }
        _ => refuse(error.to_string()),
    })?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(refuse(format!("others may read this private key (mode {mode:04o}): chmod 600 {name}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    text.parse::<PrivateKey>().map_err(|error| refuse(error.to_string()))
}

/// Writes a new private key, with mode 0600.
///
/// # Errors
///
/// The file exists, or cannot be made.
pub fn write_new(path: &Path, key: &PrivateKey) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", key.to_secret_text())?;
    file.sync_all()
}

/// A private key of the system's random numbers.
///
/// # Errors
///
/// The system has none.
pub fn generate() -> io::Result<PrivateKey> {
    random().map(PrivateKey::new)
}

pub(crate) fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_for_its_owner_alone_and_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.key");
        let key = generate().unwrap();
        write_new(&path, &key).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap().public(), key.public());
        assert_eq!(write_new(&path, &key).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains(&key.to_secret_text()));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, key.to_secret_text().replace('=', "?")).unwrap();
        assert!(!read(&path).unwrap_err().to_string().contains('?'), "an error shows no part of the key");
    }
}
