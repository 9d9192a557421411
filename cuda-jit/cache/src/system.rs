//! Ownership, opening and locking of files: the differences between operating systems.

use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::path::Path;

#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};

/// Returns true if this user or root owns a file.
#[cfg(unix)]
pub(crate) fn is_own(facts: &Metadata) -> bool {
    facts.uid() == 0 || facts.uid() == rustix::process::geteuid().as_raw()
}

/// Always true on Windows, where a user's folders are closed to other users by default; a file's owner is not checked.
#[cfg(not(unix))]
pub(crate) fn is_own(_: &Metadata) -> bool {
    true
}

/// Creates a folder and its parents, for this user alone.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    builder.recursive(true).create(folder)
}

/// Opens a file for reading, without blocking on special files such as a pipe without a writer.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options.read(true).open(path)
}

/// Opens a file, creating it if it does not exist, and locks it against other writers until it is closed. The returned file
/// is the one at the path when it was locked, even if the previous writer has replaced it.
#[cfg(unix)]
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = File::options().read(true).append(true).create(true).open(path)?;
        file.lock()?;
        let same = |at: Metadata, own: Metadata| (at.dev(), at.ino()) == (own.dev(), own.ino());
        if std::fs::metadata(path).is_ok_and(|at| file.metadata().is_ok_and(|own| same(at, own))) {
            return Ok(file);
        }
    }
}

/// Locks a file against other writers. On Windows, a locked file cannot be read, and an open one cannot be replaced, so
/// that a separate file is locked, `NAME.lock`, which remains.
#[cfg(not(unix))]
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let lock = File::options().append(true).create(true).open(beside)?;
    lock.lock()?;
    File::options().append(true).create(true).open(path)?;
    Ok(lock)
}
