//! Whose the files of a folder are, and how they are opened: what differs between systems.

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
