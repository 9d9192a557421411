//! The disk cache of machine code, in the folder of compiled kernels and by its rules (`cuda-jit-cache`): one file for
//! all parts of a kernel that are compiled in the same mode.
//!
//! The key covers everything that the code depends on: the LLVM IR of the kernel's modules, the mode, this CPU, LLVM,
//! the source files that optimise and rewrite the IR, and the address of the devices' memory, which is the same in
//! every process in which it is free. Entries are never out of date, and a damaged file is a miss. A hit needs no LLVM.

use super::object::{self, Mode};
use crate::environment::ENVIRONMENT;
use crate::memory::MEMORY;
use cuda_jit_cache::{Cache, Key, Settings};
use once_cell::sync::{Lazy, OnceCell};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The source files that determine a module's object file; they are part of every key.
const SOURCES: &[&str] = &[
    include_str!("consecutive.rs"),
    include_str!("divisions.rs"),
    include_str!("empty_masks.rs"),
    include_str!("guard.rs"),
    include_str!("interleaved.rs"),
    include_str!("loops.rs"),
    include_str!("narrow_loads.rs"),
    include_str!("object.rs"),
    include_str!("reductions.rs"),
    include_str!("shared_values.rs"),
];

/// The cache folder; `None` if the environment disables it.
static FOLDER: Lazy<Option<Cache>> = Lazy::new(|| Settings::from_process().map(Settings::open));

/// Returns the cache folder, if machine code is to be cached: not in processes that measure or test compilation.
pub(crate) fn folder() -> Option<&'static Cache> {
    FOLDER.as_ref().filter(|_| !ENVIRONMENT.print_llvm && !cfg!(fuzzing))
}

/// The model and features of this CPU, which are part of every key; `None` if the system does not report them.
static CPU: Lazy<Option<String>> = Lazy::new(|| {
    let mut text = Vec::new();
    File::open("/proc/cpuinfo").ok()?.take(1 << 14).read_to_end(&mut text).ok()?;
    first_cpu(&String::from_utf8_lossy(&text))
});

/// The common part of all keys; `None` if the CPU is unknown.
static BASE: Lazy<Option<String>> = Lazy::new(|| {
    let guards = format!("{:?}", MEMORY.guards());
    let level = ENVIRONMENT.cpu.unwrap_or_default();
    let mut parts = vec![CPU.as_ref()?.as_str(), level, &guards, cuda_llvm::identity()];
    parts.extend(SOURCES);
    Some(Key::new(&parts.into_iter().map(str::as_bytes).collect::<Vec<_>>()).to_string())
});

const LABEL: &str = "machine code of the software device";

/// The object files of a kernel's parts, by part number.
type Objects = BTreeMap<u32, Vec<u8>>;

/// A kernel's object files in one mode: those on disk, and those made here that are to be written.
#[derive(Debug)]
pub(super) struct ObjectStore {
    entry: Option<(&'static Cache, Key)>,
    found: OnceCell<Objects>,
    /// Object files that were made here and are not on disk yet.
    made: Mutex<Objects>,
    /// The number of object files that background tasks are still to make.
    expected: AtomicUsize,
}

/// New files of background tasks are written in groups of this size, since the process may end at any time.
const KEPT_TOGETHER: usize = 8;

impl ObjectStore {
    /// Returns the store of a kernel, which is identified by its IR. Nothing is read until something is looked up.
    pub(super) fn new(identity: &Key, mode: Mode) -> ObjectStore {
        let entry = folder().zip(BASE.as_ref()).map(|(folder, base)| {
            let how = format!("{mode:?}");
            (folder, Key::new(&[base.as_bytes(), how.as_bytes(), identity.to_string().as_bytes()]))
        });
        ObjectStore { entry, found: OnceCell::new(), made: Mutex::default(), expected: AtomicUsize::new(0) }
    }

    /// Reads the object files that are on disk now.
    fn read(&self) -> Objects {
        let bytes = self.entry.as_ref().and_then(|(folder, key)| folder.get(key));
        bytes.and_then(|bytes| decode(&bytes)).unwrap_or_default()
    }

    /// Returns the object file of a part, if it was on disk at the first lookup.
    pub(super) fn find(&self, number: usize) -> Option<&[u8]> {
        self.found.get_or_init(|| self.read()).get(&u32::try_from(number).ok()?).map(Vec::as_slice)
    }

    /// Compiles a part's IR to an object file, to be written by [`ObjectStore::keep`].
    pub(super) fn make(&self, number: usize, ir: &str, mode: Mode) -> Result<Vec<u8>, String> {
        let object = object::object(ir, mode)?;
        if let (Some(_), Ok(number)) = (&self.entry, u32::try_from(number)) {
            self.made.lock().insert(number, object.clone());
        }
        Ok(object)
    }

    /// Announces an object file that a background task is going to make.
    pub(super) fn expect(&self) {
        self.expected.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports that an announced object file was made, or cannot be; writes the new files to disk in groups.
    pub(super) fn expect_no_more(&self) {
        let last = self.expected.fetch_sub(1, Ordering::Relaxed) == 1;
        if last || self.made.lock().len() >= KEPT_TOGETHER {
            self.keep();
        }
    }

    /// Adds the new files to those on disk, where other processes may have added some.
    pub(super) fn keep(&self) {
        let mut made = self.made.lock();
        let Some((folder, key)) = self.entry.as_ref().filter(|_| !made.is_empty()) else { return };
        let mut all = self.read();
        all.append(&mut made);
        // Under the lock, so that of two threads neither overwrites the other's additions.
        folder.put(key, LABEL, &encode(&all));
    }
}

/// Encodes object files: their number, each one's part number and length, and their bytes.
fn encode(objects: &Objects) -> Vec<u8> {
    let mut bytes = (objects.len() as u32).to_le_bytes().to_vec();
    for (number, object) in objects {
        bytes.extend(number.to_le_bytes());
        bytes.extend((object.len() as u32).to_le_bytes());
    }
    objects.values().for_each(|object| bytes.extend(object));
    bytes
}

/// Decodes object files; `None` unless the bytes are exactly one encoding.
fn decode(bytes: &[u8]) -> Option<Objects> {
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let count = word(0)? as usize;
    let mut rest = bytes.get(count.checked_mul(8)?.checked_add(4)?..)?;
    let mut objects = Objects::new();
    for at in (0..count).map(|i| 4 + 8 * i) {
        let (object, behind) = rest.split_at_checked(word(at + 4)? as usize)?;
        objects.insert(word(at)?, object.to_vec());
        rest = behind;
    }
    rest.is_empty().then_some(objects)
}

/// Returns the object file of a module that is a kernel's only one, from disk or newly compiled and written there.
pub(super) fn object(ir: &str, mode: Mode) -> Result<Vec<u8>, String> {
    let store = ObjectStore::new(&Key::new(&[ir.as_bytes()]), mode);
    if let Some(object) = store.find(0) {
        return Ok(object.to_vec());
    }
    let object = store.make(0, ir, mode)?;
    store.keep();
    Ok(object)
}

/// Returns the lines of `/proc/cpuinfo` about the first CPU that all CPUs of its model share.
fn first_cpu(text: &str) -> Option<String> {
    const RELEVANT: &[&str] = &[
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "stepping",
        "flags",
        "Features",
        "CPU implementer",
        "CPU architecture",
        "CPU variant",
        "CPU part",
        "CPU revision",
    ];
    let lines = text.lines().take_while(|line| !line.is_empty());
    let told: String = lines
        .filter(|line| line.split_once(':').is_some_and(|(key, _)| RELEVANT.contains(&key.trim())))
        .map(|line| format!("{line}\n"))
        .collect();
    (told.contains("flags") || told.contains("Features")).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Objects {
        Objects::from([(0, b"first".to_vec()), (7, Vec::new()), (300, b"last".to_vec())])
    }

    #[test]
    fn objects_are_read_as_they_were_written() {
        assert_eq!(decode(&encode(&sample())), Some(sample()));
        assert_eq!(decode(&encode(&Objects::new())), Some(Objects::new()));
    }

    #[test]
    fn every_file_that_rewrites_modules_is_part_of_the_key() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codegen");
        let texts =
            std::fs::read_dir(folder).unwrap().filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
        let rewriting: Vec<_> =
            texts.filter(|text| text.lines().any(|line| line.starts_with("use cuda_llvm::inkwell::"))).collect();
        assert_eq!(rewriting.len(), SOURCES.len());
        assert!(rewriting.iter().all(|text| SOURCES.contains(&text.as_str())));
    }

    #[test]
    fn what_is_cut_or_longer_or_tells_other_lengths_is_none() {
        let bytes = encode(&sample());
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), None, "cut to {len}");
        }
        assert_eq!(decode(&[&bytes[..], &[0]].concat()), None);
        for (at, value) in [(0, 2), (0, 4), (3, 255), (8, 4), (8, 6), (11, 255), (24, 5)] {
            let mut lies = bytes.clone();
            lies[at] = value;
            assert_eq!(decode(&lies), None, "{value} at {at}");
        }
    }

    #[test]
    fn a_store_finds_what_another_has_kept_and_keeps_what_others_have() {
        let folder: &'static Cache = Box::leak(Box::new(Cache::new(tempfile(), 1 << 20)));
        let store = |name: &[u8]| ObjectStore {
            entry: Some((folder, Key::new(&[name]))),
            found: OnceCell::new(),
            made: Mutex::default(),
            expected: AtomicUsize::new(0),
        };
        let put =
            |store: &ObjectStore, number: u32, object: &[u8]| drop(store.made.lock().insert(number, object.to_vec()));
        let (one, two) = (store(b"k"), store(b"k"));
        assert_eq!((one.find(1), two.find(2)), (None, None));
        put(&one, 1, b"one");
        put(&two, 2, b"two");
        one.expect();
        one.expect();
        one.expect_no_more();
        assert_eq!(store(b"k").find(1), None, "another is still to come");
        one.expect_no_more();
        two.keep();
        let third = store(b"k");
        assert_eq!((third.find(1), third.find(2), third.find(3)), (Some(&b"one"[..]), Some(&b"two"[..]), None));
        assert_eq!(store(b"another").find(1), None);
        // a valid entry that contains no objects
        folder.put(&Key::new(&[b"k"]), LABEL, b"nonsense");
        assert_eq!(store(b"k").find(1), None);
        std::fs::remove_dir_all(folder.folder()).unwrap();
    }

    fn tempfile() -> std::path::PathBuf {
        std::env::temp_dir().join(format!("cuda-sim-objects-{}", std::process::id()))
    }

    #[test]
    fn a_cpu_is_its_model_and_what_it_can_do() {
        let text = "processor\t: 0\nvendor_id\t: A\nmodel\t\t: 7\ncpu MHz\t\t: 2.5\nflags\t\t: fpu avx2\n\nprocessor\t: 1\nmodel\t: 8\n";
        assert_eq!(first_cpu(text).as_deref(), Some("vendor_id\t: A\nmodel\t\t: 7\nflags\t\t: fpu avx2\n"));
        assert_eq!(first_cpu("processor\t: 0\n"), None);
        assert!(CPU.is_some(), "Linux tells");
    }
}
