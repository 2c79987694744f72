//! Whether files have changed since they were read.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What shows that one of some files was changed or replaced, or is gone: inode and time of change of each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Stamps(Vec<Option<(u64, i64, i64)>>);

impl Stamps {
    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a Path>) -> Self {
        let stamp = |file: &Path| {
            let found = std::fs::metadata(file).ok()?;
            Some((found.ino(), found.mtime(), found.mtime_nsec()))
        };
        Self(files.into_iter().map(stamp).collect())
    }
}
