//! [`Bundle`]: consecutive entries in one file, which a program can embed.
//!
//! Each has the format of an entry of the folder. The index is built without reading the entries' contents, whose hash is
//! checked at access. [`Recorder`] adds entries to a file: it writes the whole file to a temporary name and renames it
//! under a lock, so that several programs can record into one file, and a reader never finds a partial one.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::entry::{self, HASH, HEAD, Key, encode, encoded_len};
use crate::system;

/// The entries of a bundle.
///
/// # Examples
///
/// ```
/// use cuda_jit_cache::{Bundle, Key, Recorder};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("kernels.bundle");
/// let key = Key::new(&[b"source"]);
/// Recorder::new(&file).put(&key, "a label", b"contents")?;
///
/// let bundle = Bundle::new(std::fs::read(&file)?)?;
/// assert_eq!(bundle.labels().collect::<Vec<_>>(), ["a label"]);
/// assert_eq!(bundle.get(&key)?, Some(&b"contents"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Bundle<'a> {
    bytes: Cow<'a, [u8]>,
    entries: Vec<Entry>,
}

/// An entry of the index: its key, its label and its byte range in the bundle.
#[derive(Clone, Debug)]
struct Entry {
    key: Key,
    label: String,
    start: usize,
    end: usize,
}

/// A bundle whose bytes differ from the recorded ones.
///
/// # Examples
///
/// ```
/// use cuda_jit_cache::{Bundle, Damaged, is_bundle};
///
/// assert!(is_bundle(b"") && !is_bundle(b"text"));
/// assert_eq!(Bundle::new(&b"text"[..]).err(), Some(Damaged { at: 0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bundle is damaged at byte {at}")]
pub struct Damaged {
    /// The offset of the damaged entry.
    pub at: usize,
}

/// Returns true if the bytes are consecutive entries; their contents are not checked.
///
/// It can be evaluated in a constant for a file that `include_bytes!` has read, so that a damaged one is a build error.
#[must_use]
pub const fn is_bundle(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some((head, _)) = rest.split_first_chunk() {
        match encoded_len(head) {
            Some(length) if length <= rest.len() as u64 => rest = rest.split_at(length as usize).1,
            _ => return false,
        }
    }
    rest.is_empty()
}

impl<'a> Bundle<'a> {
    /// The index of a bundle's bytes.
    ///
    /// # Errors
    ///
    /// [`Damaged`] if they are not consecutive entries.
    pub fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, Damaged> {
        let bytes = bytes.into();
        let (mut entries, mut start) = (Vec::new(), 0);
        while start < bytes.len() {
            let entry = Entry::at(&bytes, start).ok_or(Damaged { at: start })?;
            start = entry.end;
            entries.push(entry);
        }
        Ok(Bundle { bytes, entries })
    }

    /// The labels of the entries, in the order of recording.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.label)
    }

    /// The entries' labels and sizes in bytes, and true for each whose hash matches.
    pub fn list(&self) -> impl Iterator<Item = (&str, usize, bool)> {
        self.entries.iter().map(|entry| {
            let bytes = &self.bytes[entry.start..entry.end];
            (&*entry.label, bytes.len(), entry::decode(bytes).is_some())
        })
    }

    /// The contents under a key.
    ///
    /// # Errors
    ///
    /// [`Damaged`] if they are present but differ from the recorded ones.
    pub fn get(&self, key: &Key) -> Result<Option<&[u8]>, Damaged> {
        self.find(key).map(|found| found.map(|contents| &self.bytes[contents])).transpose()
    }

    fn find(&self, key: &Key) -> Option<Result<std::ops::Range<usize>, Damaged>> {
        let entry = self.entries.iter().find(|entry| entry.key == *key)?;
        let whole = entry::is_intact(&self.bytes[entry.start..entry.end]);
        Some(whole.then_some(entry.contents()).ok_or(Damaged { at: entry.start }))
    }
}

impl Bundle<'static> {
    /// As [`get`](Bundle::get), for bytes that live as long as the process, without copying.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_cache::{Bundle, Key, Recorder};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("kernels.bundle");
    /// let key = Key::new(&[b"source"]);
    /// Recorder::new(&file).put(&key, "a label", b"contents")?;
    ///
    /// // A program has the bytes by `include_bytes!`.
    /// let bytes: &'static [u8] = Box::leak(std::fs::read(&file)?.into());
    /// let bundle = Bundle::new(bytes)?;
    /// assert_eq!(bundle.get_static(&key)?, Some(&b"contents"[..]));
    /// assert_eq!(bundle.list().next(), Some(("a label", bytes.len(), true)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Bundle::get).
    pub fn get_static(&self, key: &Key) -> Result<Option<&'static [u8]>, Damaged> {
        let Cow::Borrowed(bytes) = self.bytes else { return Ok(None) };
        self.find(key).map(|found| found.map(|contents| &bytes[contents])).transpose()
    }
}

impl Entry {
    /// The entry that begins at an offset, if there is one that ends within the bytes.
    fn at(bytes: &[u8], start: usize) -> Option<Self> {
        let rest = &bytes[start..];
        let length = usize::try_from(encoded_len(rest.first_chunk()?)?).ok().filter(|length| *length <= rest.len())?;
        let (key, label) = entry::head(&rest[..length])?;
        Some(Entry { key, label: label.to_owned(), start, end: start + length })
    }

    fn contents(&self) -> std::ops::Range<usize> {
        self.start + HEAD + self.label.len()..self.end - HASH
    }
}

/// Adds entries to a bundle's file.
///
/// An entry replaces those of the same label that the file had before this recorder was created: they belong to an older
/// state of the same kernel.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    recorded: Mutex<Vec<Key>>,
}

impl Recorder {
    /// A recorder into a file, which is created with the first entry.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Recorder { path: path.into(), recorded: Mutex::default() }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written, or is no bundle; the file is unchanged then.
    pub fn put(&self, key: &Key, label: &str, contents: &[u8]) -> io::Result<()> {
        let mut recorded = self.recorded.lock();
        let _locked = system::lock(&self.path)?;
        let old = fs::read(&self.path)?;
        let bundle = Bundle::new(&*old).map_err(|damaged| {
            let text = format!("{}: {damaged}; remove the file, or name another", self.path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        let is_kept = |entry: &&Entry| entry.key != *key && (entry.label != label || recorded.contains(&entry.key));
        let kept = bundle.entries.iter().filter(is_kept).map(|entry| &old[entry.start..entry.end]);
        let mut bytes = kept.collect::<Vec<_>>().concat();
        bytes.extend(encode(key, label, contents));
        self.replace(&bytes)?;
        recorded.push(*key);
        Ok(())
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::Builder::new()
            .permissions(fs::metadata(&self.path)?.permissions())
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(bytes)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new(&[name.as_bytes()])
    }

    fn labels(path: &Path) -> Vec<String> {
        Bundle::new(fs::read(path).unwrap()).unwrap().labels().map(str::to_owned).collect()
    }

    #[test]
    fn an_entry_takes_the_place_of_older_ones_with_its_label() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bundle");
        let first = Recorder::new(&path);
        first.put(&key("one"), "kernel sm_90", b"1").unwrap();
        first.put(&key("two"), "kernel sm_90", b"2").unwrap();
        first.put(&key("other"), "other sm_90", b"3").unwrap();
        assert_eq!(labels(&path), ["kernel sm_90", "kernel sm_90", "other sm_90"], "two of one name in one program");
        Recorder::new(&path).put(&key("new"), "kernel sm_90", b"4").unwrap();
        assert_eq!(labels(&path), ["other sm_90", "kernel sm_90"]);
        let bundle = Bundle::new(fs::read(&path).unwrap()).unwrap();
        assert_eq!((bundle.get(&key("one")), bundle.get(&key("new"))), (Ok(None), Ok(Some(&b"4"[..]))));
    }

    #[test]
    fn many_recorders_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bundle");
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let recorder = Recorder::new(path);
                    for n in 0..10 {
                        let name = format!("{thread} {n}");
                        recorder.put(&key(&name), &name, name.as_bytes()).unwrap();
                    }
                });
            }
        });
        let bundle = Bundle::new(fs::read(&path).unwrap()).unwrap();
        assert_eq!(bundle.labels().count(), 80);
        assert_eq!(bundle.get(&key("7 9")), Ok(Some(&b"7 9"[..])));
        let files = if cfg!(windows) { 2 } else { 1 };
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), files, "nothing is left behind but Windows' lock");
    }

    #[test]
    fn damage_is_found_where_it_is() {
        let one = encode(&key("one"), "a", b"some contents");
        let both = [&*one, &*encode(&key("two"), "b", b"more")].concat();
        assert!(is_bundle(&both) && is_bundle(b""));
        for length in 1..both.len() {
            let cut = &both[..length];
            let at = if length < one.len() { 0 } else { one.len() };
            if length == one.len() {
                assert!(is_bundle(cut) && Bundle::new(cut).is_ok());
            } else {
                assert!(!is_bundle(cut));
                assert_eq!(Bundle::new(cut).unwrap_err(), Damaged { at });
            }
        }
        let mut flipped = both.clone();
        flipped[one.len() - HASH - 1] ^= 1;
        let bundle = Bundle::new(flipped).unwrap();
        assert_eq!(bundle.get(&key("one")), Err(Damaged { at: 0 }));
        assert_eq!(bundle.get(&key("two")), Ok(Some(&b"more"[..])));
        assert_eq!(
            bundle.list().map(|(label, _, whole)| (label, whole)).collect::<Vec<_>>(),
            [("a", false), ("b", true)]
        );
    }

    #[test]
    fn a_file_that_is_no_bundle_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        fs::write(&path, "not a bundle").unwrap();
        let error = Recorder::new(&path).put(&key("one"), "a", b"").unwrap_err().to_string();
        assert!(
            error.ends_with("notes.txt: the bundle is damaged at byte 0; remove the file, or name another"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a bundle");
    }
}
