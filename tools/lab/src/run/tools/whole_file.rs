//! A random file to copy, compared with its copy at the end.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::super::report::Delivery;
use crate::error::LabError;

/// Folders for the file, in memory first, so that disks do not limit the transfer.
const FOLDERS: [&str; 2] = ["/dev/shm", "/tmp"];
const CHUNK_BYTES: usize = 1 << 16;

/// The file and the path of its copy; both are removed when this is dropped.
pub(super) struct WholeFile {
    folder: PathBuf,
    source: PathBuf,
    target: PathBuf,
    bytes: u64,
}

impl WholeFile {
    /// A file of random bytes in a world-writable folder.
    pub(super) fn make(name: &str, bytes: u64) -> Result<Self, LabError> {
        let place = FOLDERS.into_iter().map(Path::new).find(|place| place.is_dir()).unwrap_or(Path::new("/"));
        let folder = place.join(format!("braid-{name}"));
        let file = Self { source: folder.join("source"), target: folder.join("target"), folder, bytes };
        file.fill().map_err(|error| LabError::file(&file.source, error))?;
        Ok(file)
    }

    /// The same in a private folder, with an empty folder in it.
    pub(super) fn to_read(name: &str, bytes: u64) -> Result<Self, LabError> {
        let file = Self::make(name, bytes)?;
        let made = fs::set_permissions(&file.folder, Permissions::from_mode(0o755))
            .and_then(|()| fs::create_dir(file.folder.join("empty")));
        made.map_err(|error| LabError::file(&file.folder, error)).map(|()| file)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn source(&self) -> &Path {
        &self.source
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// The bytes received so far.
    pub(super) fn received(&self) -> u64 {
        fs::metadata(&self.target).map_or(0, |file| file.len())
    }

    /// The received bytes, and whether they are those sent.
    pub(super) fn compare(&self, longest_stall: f64) -> Result<Delivery, LabError> {
        let hash = |path: &Path| hash(path).map_err(|error| LabError::file(path, error));
        let (sha256_sent, _) = hash(&self.source)?;
        let arrived = self.target.exists().then(|| hash(&self.target)).transpose()?;
        let (sha256_received, bytes_received) = arrived.unwrap_or_default();
        let intact = bytes_received == self.bytes && sha256_received == sha256_sent;
        Ok(Delivery {
            bytes: self.bytes,
            bytes_received,
            sha256_sent,
            sha256_received,
            intact,
            longest_stall,
        })
    }

    fn fill(&self) -> io::Result<()> {
        drop(fs::remove_dir_all(&self.folder));
        fs::create_dir(&self.folder)?;
        fs::set_permissions(&self.folder, Permissions::from_mode(0o777))?;
        let mut source = File::create(&self.source)?;
        io::copy(&mut File::open("/dev/urandom")?.take(self.bytes), &mut source)?;
        fs::set_permissions(&self.source, Permissions::from_mode(0o644))
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn hash(path: &Path) -> io::Result<(String, u64)> {
    let (mut file, mut digest, mut chunk, mut length) =
        (File::open(path)?, Sha256::new(), vec![0; CHUNK_BYTES], 0);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            let text = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            return Ok((text, length));
        }
        digest.update(&chunk[..read]);
        length += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_intact_only_if_every_byte_is_there() {
        let file = WholeFile::make(&format!("test-{}", std::process::id()), 200_000).expect("memory");
        let absent = file.compare(0.0).expect("a source");
        assert!(!absent.intact && absent.bytes_received == 0);
        fs::copy(file.source(), file.target()).expect("room");
        assert!(file.compare(0.0).expect("both").intact);
        fs::write(file.target(), [0; 200_000]).expect("room");
        let other = file.compare(0.0).expect("both");
        assert!(!other.intact && other.bytes_received == 200_000);
        let folder = file.folder.clone();
        drop(file);
        assert!(!folder.exists());
    }
}
