//! [`Cache`]: entries as files in one folder.
//!
//! An entry is written to a temporary name and renamed, so that a reader finds all of it or nothing; no locks are needed.
//! The modification time of a file is the time of the entry's last use.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use crate::entry::{HEAD, Key, decode, encode, encoded_len};
use crate::system;

/// The suffix of entries' files.
const SUFFIX: &str = ".kernel";
/// The prefix of unfinished files.
const UNFINISHED_PREFIX: &str = ".new-";
/// The age at which an unfinished file counts as abandoned.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);
/// The number of added entries after which the folder is listed again: other processes add to it too.
const RELIST_AFTER: u32 = 256;

/// A folder of entries with a size limit.
///
/// No operation fails: an unreadable folder has no entries, and an unwritable one keeps none.
///
/// # Examples
///
/// ```
/// use cuda_jit_cache::{Cache, Key};
///
/// let folder = tempfile::tempdir()?;
/// let cache = Cache::new(folder.path(), 1 << 20);
/// assert_eq!((cache.folder(), cache.limit()), (folder.path(), 1 << 20));
/// let key = Key::new(&[b"source"]);
/// assert!(cache.get(&key).is_none());
/// assert!(cache.put(&key, "a label", b"contents"));
/// assert_eq!(cache.get(&key).as_deref(), Some(&b"contents"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    size: Mutex<Size>,
}

/// This process's estimate of the folder's size.
#[derive(Debug, Default)]
struct Size {
    /// The bytes at the last listing, plus those that this process has added since.
    bytes: u64,
    /// The number of entries that may be added before the next listing.
    credit: u32,
}

/// A file of the folder.
///
/// # Examples
///
/// ```
/// use cuda_jit_cache::{Cache, Key, Listed};
///
/// let folder = tempfile::tempdir()?;
/// let cache = Cache::new(folder.path(), 1 << 20);
/// cache.put(&Key::new(&[b"source"]), "a label", b"contents");
/// for Listed { label, bytes, .. } in cache.list() {
///     assert_eq!(label.as_deref(), Some("a label"));
///     assert!(bytes > 8);
/// }
/// assert_eq!(cache.clear()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The entry's label; `None` for one that is damaged, or of another version.
    pub label: Option<String>,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The time of its last use.
    pub used: SystemTime,
}

impl Cache {
    /// The cache in `folder`, with at most `limit` bytes. The folder is created with the first entry.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Cache { folder: folder.into(), limit, size: Mutex::default() }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The maximum number of bytes in it.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The contents under a key, which become the most recently used; `None` if they are missing or damaged.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let file = system::open(&path).ok()?;
        let decoded = self.read(&file).ok().and_then(|bytes| decode(&bytes));
        let Some(entry) = decoded.filter(|entry| entry.key == *key) else {
            tracing::debug!(path = %path.display(), "an entry of the kernel cache is damaged; the kernel is compiled again");
            return None;
        };
        // If the folder is read-only, no process evicts from it either.
        let _ = file.set_modified(SystemTime::now());
        Some(entry.contents)
    }

    /// Reads a file that this user or root has written, and whose length matches its header: a damaged file may have any
    /// length, even beyond the size of memory.
    fn read(&self, mut file: &File) -> io::Result<Vec<u8>> {
        let facts = file.metadata()?;
        if !facts.is_file() || !system::is_own(&facts) || facts.len() > self.limit {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut head = [0; HEAD];
        file.read_exact(&mut head)?;
        if encoded_len(&head) != Some(facts.len()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(facts.len() as usize)?;
        bytes.extend(head);
        file.take(facts.len()).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Stores contents under a key, replacing existing ones; the least recently used entries are evicted.
    ///
    /// Returns true if they were stored, and false if they are larger than the limit, or the folder cannot be written.
    pub fn put(&self, key: &Key, label: &str, contents: &[u8]) -> bool {
        let bytes = encode(key, label, contents);
        let kept = bytes.len() as u64 <= self.limit
            && self
                .write(key, &bytes)
                .inspect_err(|error| {
                    tracing::debug!(%error, folder = %self.folder.display(), "a kernel could not be stored in the cache");
                })
                .is_ok();
        if kept {
            self.evict(key, bytes.len() as u64);
        }
        kept
    }

    fn write(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        system::create_folder(&self.folder)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED_PREFIX).tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().set_modified(SystemTime::now())?;
        file.persist(self.path(key))?;
        Ok(())
    }

    /// Evicts the least recently used entries, except `new`, until the folder is within its limit.
    fn evict(&self, new: &Key, added: u64) {
        let mut size = self.size.lock();
        size.bytes += added;
        size.credit = size.credit.saturating_sub(1);
        if size.bytes <= self.limit && size.credit > 0 {
            return;
        }
        let new = self.path(new);
        let mut files = self.files();
        size.bytes = files.iter().map(|file| file.bytes).sum();
        size.credit = RELIST_AFTER;
        if size.bytes <= self.limit {
            return;
        }
        // A little more than necessary, so that not every entry evicts.
        let wanted = self.limit - self.limit / 8;
        files.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        for file in files.iter().filter(|file| file.path != new) {
            if size.bytes <= wanted {
                return;
            }
            // Another process may have removed it just now.
            let _ = fs::remove_file(&file.path);
            size.bytes -= file.bytes;
        }
    }

    /// All entries, the most recently used first; each is read and checked.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let mut files = self.files();
        files.sort_by(|a, b| (b.used, &a.path).cmp(&(a.used, &b.path)));
        for file in &mut files {
            let bytes = system::open(&file.path).and_then(|opened| self.read(&opened));
            let entry = bytes.ok().and_then(|bytes| decode(&bytes));
            file.label = entry.filter(|entry| self.path(&entry.key) == file.path).map(|entry| entry.label);
        }
        files
    }

    /// Removes all entries, and nothing else in the folder; returns the number of removed entries.
    ///
    /// # Errors
    ///
    /// The error of the first file that cannot be removed.
    pub fn clear(&self) -> io::Result<usize> {
        let mut count = 0;
        for file in self.files() {
            match fs::remove_file(&file.path) {
                Ok(()) => count += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        *self.size.lock() = Size::default();
        Ok(count)
    }

    /// The entries' files, unread. Abandoned unfinished files are removed.
    fn files(&self) -> Vec<Listed> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            let (name, Ok(facts)) = (name.to_string_lossy(), entry.metadata()) else { continue };
            let used = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if name.ends_with(SUFFIX) && facts.is_file() {
                files.push(Listed { label: None, path, bytes: facts.len(), used });
            } else if name.starts_with(UNFINISHED_PREFIX) && used.elapsed().is_ok_and(|age| age > ABANDONED_AFTER) {
                let _ = fs::remove_file(path);
            }
        }
        files
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{key}{SUFFIX}"))
    }
}
