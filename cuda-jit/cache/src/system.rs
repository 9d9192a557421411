//! Whose the files of a folder are, and how they are opened and locked: what differs between systems.

use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::path::Path;

#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};

/// Returns true if this user or root has written a file.
#[cfg(unix)]
pub(crate) fn is_own(facts: &Metadata) -> bool {
    facts.uid() == 0 || facts.uid() == rustix::process::geteuid().as_raw()
}

/// The same on Windows, whose folders of a user are closed to other users by default; a file's owner is not looked at.
#[cfg(not(unix))]
pub(crate) fn is_own(_: &Metadata) -> bool {
    true
}

/// Makes a folder, and those that it lies in, for this user alone.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    builder.recursive(true).create(folder)
}

/// Opens a file for reading; what is no file, such as a pipe without a writer, is not waited for.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options.read(true).open(path)
}

/// Opens a file, which is made where there is none, and locks it against other writers until it is closed. It is the one at the path
/// then, also where the writer before has put another file in its place.
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

/// The same on Windows, where nobody can read a locked file, nor put another in the place of an open one: a file beside it is locked,
/// `NAME.lock`, which stays there.
#[cfg(not(unix))]
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let lock = File::options().append(true).create(true).open(beside)?;
    lock.lock()?;
    File::options().append(true).create(true).open(path)?;
    Ok(lock)
}
