//! The memory that the ranks of a communicator share: their states, their calls, and a ring of slots for each pair of ranks.
//!
//! It is a file in `/dev/shm`, or in the folder for temporary files, that the unique id names. The first rank creates it; it
//! is removed as soon as all ranks have mapped it, so that nothing is left when processes are killed. Each rank holds a lock
//! on a byte of the file through a descriptor of its own, which the system releases when the process ends: that is how the
//! others know that it is gone. Files of processes that were killed before all ranks had come are removed when the next
//! unique id is made.
//!
//! Invariant: everything before the slots consists of atomics, and is zero at first. Only one rank writes each word, except
//! the doorbells, the count of attached ranks and the error.
//!
//! # Safety
//!
//! The file is mapped with the length that its layout gives, by processes of one user that all run this code; addresses in it
//! are computed from the layout. A reference to its atomics lives no longer than the mapping.

use crate::abi::{Code, UniqueId, id_bytes};
use crate::failure::{Failure, Result};
use crate::ring::RingFlags;
use crate::sync::Doorbell;
use std::ffi::{CStr, c_char, c_int};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The most ranks of a communicator.
pub(crate) const MOST_RANKS: usize = 128;
/// The slots of a ring.
pub(crate) const SLOTS: u64 = 8;
/// The rings of a pair of ranks in one direction: contributions and results.
pub(crate) const LANES: usize = 2;
/// The bytes that all slots take at most, as long as each has at least `LEAST_SLOT`.
const BUDGET: usize = 16 << 20;
const LARGEST_SLOT: usize = 256 << 10;
const LEAST_SLOT: usize = 1 << 10;
/// The bytes of an error's text, and of everything before the ranks' blocks.
const TEXT: usize = 3 << 10;
const HEAD: usize = 4 << 10;
/// The prefix of the files' names.
const PREFIX: &str = "nccl-sim-";
/// The bytes of the file that are locked: one while the file is set up, and one for each rank.
const SETUP_LOCK: i64 = 0;
const FIRST_RANK_LOCK: i64 = 16;
/// The time after which a waiting rank looks whether its peers live.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);
/// The age from which a file without a lock counts as left behind.
const STALE: Duration = Duration::from_secs(60);

/// A rank's state.
pub(crate) mod state {
    pub(crate) const ATTACHED: u32 = 1;
    pub(crate) const DEPARTED: u32 = 2;
    pub(crate) const ABORTED: u32 = 3;
}

#[repr(C)]
struct Head {
    attached: AtomicU64,
    /// The first error of any rank: its code, or 0. The text is written before it.
    error: AtomicU32,
    /// Set by the rank that writes the error.
    claimed: AtomicU32,
    text_bytes: AtomicU64,
}

/// A collective call as its rank published it.
#[repr(C)]
#[derive(Default)]
pub(crate) struct CallWords {
    pub(crate) function: AtomicU64,
    pub(crate) root: AtomicU64,
    pub(crate) count: AtomicU64,
}

/// The arguments of a split, as their rank published them.
#[repr(C)]
pub(crate) struct SplitWords {
    pub(crate) color: AtomicU64,
    pub(crate) key: AtomicU64,
}

/// The activity of a rank, for the search for deadlocks; the number changes with every change.
#[repr(C)]
pub(crate) struct Activity {
    pub(crate) number: AtomicU64,
    pub(crate) kind: AtomicU64,
    /// The ranks to which it has yet to send, and from which it has yet to receive, as bits.
    pub(crate) sends: [AtomicU64; 2],
    pub(crate) receives: [AtomicU64; 2],
}

/// The words that a rank writes, and its doorbell.
#[repr(C, align(64))]
pub(crate) struct RankBlock {
    pub(crate) doorbell: Doorbell,
    pub(crate) state: AtomicU32,
    pub(crate) process: AtomicU32,
    /// The number of collective calls that it has joined, of which the last two are in `calls`.
    pub(crate) joined: AtomicU64,
    pub(crate) calls: [CallWords; 2],
    /// The number of splits that it has joined, of which the last two are in `splits`.
    pub(crate) split: AtomicU64,
    pub(crate) splits: [SplitWords; 2],
    pub(crate) activity: Activity,
}

/// The properties of the message in a slot.
#[repr(C)]
pub(crate) struct Tag {
    pub(crate) bytes: AtomicU64,
    /// The count and the type of the whole message, for the receiver to compare.
    pub(crate) count: AtomicU64,
    pub(crate) kind: AtomicU64,
}

/// The places of everything in the file.
#[derive(Clone, Copy, Debug)]
struct Layout {
    ranks: usize,
    rings: usize,
    tags: usize,
    slots: usize,
    slot_bytes: usize,
    bytes: usize,
}

impl Layout {
    fn of(ranks: usize) -> Layout {
        let rings = HEAD + ranks * size_of::<RankBlock>();
        let count = ranks * ranks.saturating_sub(1) * LANES;
        let tags = rings + count * size_of::<RingFlags>();
        let slots = (tags + count * SLOTS as usize * size_of::<Tag>()).next_multiple_of(4096);
        let share = BUDGET / (count * SLOTS as usize).max(1);
        let slot_bytes = (share + 1).next_power_of_two() / 2;
        let slot_bytes = slot_bytes.clamp(LEAST_SLOT, LARGEST_SLOT);
        Layout { ranks, rings, tags, slots, slot_bytes, bytes: slots + count * SLOTS as usize * slot_bytes }
    }

    /// Returns the number of the ring between two different ranks.
    fn ring(&self, from: usize, to: usize, lane: usize) -> usize {
        let peer = if to > from { to - 1 } else { to };
        (from * (self.ranks - 1) + peer) * LANES + lane
    }
}

/// A rank's mapping of the shared memory.
pub(crate) struct Segment {
    base: *mut u8,
    layout: Layout,
    file: File,
    path: PathBuf,
    pub(crate) rank: usize,
    /// The bytes that this rank has given to others.
    pub(crate) sent: AtomicU64,
}

// SAFETY: the mapping belongs to this value; what threads share in it are atomics, and slots that the rings hand over.
unsafe impl Send for Segment {}
// SAFETY: the mapping belongs to this value; what threads share in it are atomics, and slots that the rings hand over.
unsafe impl Sync for Segment {}

fn system(what: &str, path: &Path) -> Failure {
    let error = io::Error::last_os_error();
    Failure::new(Code::ncclSystemError, format!("{what} of {} failed: {error}", path.display()))
}

/// Returns the folder of the files.
fn folder() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    if shared.is_dir() { shared } else { std::env::temp_dir() }
}

/// Describes a lock on bytes of a file.
fn lock_of(kind: c_int, start: i64, bytes: i64) -> libc::flock {
    libc::flock { l_type: kind as i16, l_whence: libc::SEEK_SET as i16, l_start: start, l_len: bytes, l_pid: 0 }
}

/// Sets a lock that belongs to the descriptor.
fn lock(file: &File, kind: c_int, start: i64, wait: bool) -> bool {
    let command = if wait { libc::F_OFD_SETLKW } else { libc::F_OFD_SETLK };
    let wanted = lock_of(kind, start, 1);
    // SAFETY: the descriptor is open, and the description of the lock lives through the call.
    unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const wanted) == 0 }
}

/// Returns true if another descriptor has a lock on some of the bytes.
fn is_locked(file: &File, start: i64, bytes: i64) -> bool {
    let mut wanted = lock_of(libc::F_WRLCK, start, bytes);
    // SAFETY: the descriptor is open, and the description of the lock lives through the call.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut wanted) };
    asked == 0 && c_int::from(wanted.l_type) != libc::F_UNLCK
}

/// Fills a unique id with random bytes, as text.
pub(crate) fn new_id() -> Result<UniqueId> {
    sweep(&folder());
    let mut random = [0u8; 16];
    // SAFETY: the buffer has as many bytes as are asked for.
    let read = unsafe { libc::getrandom(random.as_mut_ptr().cast(), random.len(), 0) };
    if read != random.len() as isize {
        return Err(Failure::new(Code::ncclSystemError, "the system has no random numbers for a unique id"));
    }
    Ok(id_of(u128::from_le_bytes(random)))
}

/// Returns the id of a number.
pub(crate) fn id_of(number: u128) -> UniqueId {
    let mut id = UniqueId { internal: [0; 128] };
    let text = format!("{PREFIX}{number:032x}");
    for (to, byte) in id.internal.iter_mut().zip(text.bytes()) {
        *to = c_char::from_ne_bytes([byte]);
    }
    id
}

/// Returns the name in an id, which must be one of this library's.
pub(crate) fn name_of(id: &UniqueId) -> Result<String> {
    let bytes = id_bytes(id);
    let name = CStr::from_bytes_until_nul(&bytes).ok().and_then(|name| name.to_str().ok()).unwrap_or_default();
    let digits = name.strip_prefix(PREFIX).filter(|d| d.len() == 32 && d.bytes().all(|b| b.is_ascii_hexdigit()));
    digits.map(|_| name.to_owned()).ok_or_else(|| {
        Failure::argument(
            "the unique id is none of this library's ncclGetUniqueId: all ranks must use the software NCCL, and the id must \
             be passed to them whole",
        )
    })
}

/// Removes files of this user that no process has open as a communicator.
fn sweep(folder: &Path) {
    // SAFETY: the call has no arguments and no preconditions.
    let user = unsafe { libc::geteuid() };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(known) = entry.metadata() else { continue };
        let age = known.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default();
        if known.uid() != user || age < STALE {
            continue;
        }
        let open = OpenOptions::new().read(true).write(true).open(entry.path());
        if open.is_ok_and(|file| !is_locked(&file, 0, 0)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Segment {
    /// Creates or maps the memory of a communicator, as one of its ranks. It does not wait for the others.
    pub(crate) fn attach(id: &UniqueId, ranks: usize, rank: usize) -> Result<Segment> {
        let path = folder().join(name_of(id)?);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&path).map_err(|_| system("the opening", &path))?;
        if !lock(&file, libc::F_WRLCK, SETUP_LOCK, true) {
            return Err(system("the lock", &path));
        }
        let layout = Layout::of(ranks);
        let bytes = file.metadata().map_err(|_| system("the reading", &path))?.len();
        if bytes == 0 {
            // SAFETY: the descriptor is open. Without the room the later writes would end the process.
            let status = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, layout.bytes as i64) };
            if status != 0 {
                let _ = std::fs::remove_file(&path);
                let error = io::Error::from_raw_os_error(status);
                let text = format!("{} cannot get {} bytes of shared memory: {error}", path.display(), layout.bytes);
                return Err(Failure::new(Code::ncclSystemError, text));
            }
        } else if bytes != layout.bytes as u64 {
            return Err(Failure::argument(format!(
                "rank {rank} was given {ranks} ranks, and another one a different number"
            )));
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: maps a file of this length at an address that the system chooses, so no existing memory changes.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), layout.bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(system("the mapping", &path));
        }
        let segment = Segment { base: base.cast(), layout, file, path, rank, sent: AtomicU64::new(0) };
        let own = segment.own();
        // A rank that says that it has attached, without its lock, has ended: the lock comes first.
        let is_locked = lock(&segment.file, libc::F_WRLCK, FIRST_RANK_LOCK + rank as i64, false);
        if !is_locked || own.state.load(Ordering::Acquire) != 0 {
            return Err(Failure::usage(format!("two callers are rank {rank} of the same communicator")));
        }
        own.process.store(std::process::id(), Ordering::Relaxed);
        own.state.store(state::ATTACHED, Ordering::Release);
        lock(&segment.file, libc::F_UNLCK, SETUP_LOCK, false);
        segment.head().attached.fetch_add(1, Ordering::AcqRel);
        segment.ring_all();
        Ok(segment)
    }

    /// Returns true if all ranks have attached.
    pub(crate) fn is_complete(&self) -> bool {
        self.head().attached.load(Ordering::Acquire) == self.layout.ranks as u64
    }

    /// Removes the file; the mappings remain.
    pub(crate) fn unlink(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    pub(crate) fn ranks(&self) -> usize {
        self.layout.ranks
    }

    pub(crate) fn slot_bytes(&self) -> usize {
        self.layout.slot_bytes
    }

    /// Returns all other ranks.
    pub(crate) fn peers(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.rank;
        (0..self.layout.ranks).filter(move |rank| *rank != own)
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping starts with it, page-aligned, and consists of atomics.
        unsafe { &*self.base.cast::<Head>() }
    }

    /// Returns a rank's block.
    pub(crate) fn rank(&self, rank: usize) -> &RankBlock {
        assert!(rank < self.layout.ranks, "a rank of the communicator");
        let at = self.base.wrapping_add(HEAD).cast::<RankBlock>().wrapping_add(rank);
        // SAFETY: the layout has a block for each rank, aligned, that consists of atomics.
        unsafe { &*at }
    }

    pub(crate) fn own(&self) -> &RankBlock {
        self.rank(self.rank)
    }

    /// Returns the counters of the ring between two different ranks.
    pub(crate) fn ring(&self, from: usize, to: usize, lane: usize) -> &RingFlags {
        let at = self.base.wrapping_add(self.layout.rings).cast::<RingFlags>();
        // SAFETY: the layout has counters for each pair of ranks and lane, aligned, that consist of atomics.
        unsafe { &*at.wrapping_add(self.layout.ring(from, to, lane)) }
    }

    /// Returns the tag of a slot.
    pub(crate) fn tag(&self, from: usize, to: usize, lane: usize, slot: usize) -> &Tag {
        let number = self.layout.ring(from, to, lane) * SLOTS as usize + slot;
        let at = self.base.wrapping_add(self.layout.tags).cast::<Tag>();
        // SAFETY: the layout has a tag for each slot, aligned, that consists of atomics.
        unsafe { &*at.wrapping_add(number) }
    }

    /// Returns the address of a slot.
    pub(crate) fn slot(&self, from: usize, to: usize, lane: usize, slot: usize) -> *mut u8 {
        let number = self.layout.ring(from, to, lane) * SLOTS as usize + slot;
        self.base.wrapping_add(self.layout.slots + number * self.layout.slot_bytes)
    }

    /// Wakes all other ranks, and threads of this one.
    pub(crate) fn ring_all(&self) {
        (0..self.layout.ranks).for_each(|rank| self.rank(rank).doorbell.ring());
    }

    /// Says that this rank has left, or was aborted.
    pub(crate) fn leave(&self, state: u32) {
        self.own().state.store(state, Ordering::Release);
        self.ring_all();
    }

    /// Returns the reason why nothing more will come from a rank: the end of its process, or its state.
    pub(crate) fn gone(&self, rank: usize) -> Option<String> {
        let block = self.rank(rank);
        let state = block.state.load(Ordering::Acquire);
        let process = block.process.load(Ordering::Relaxed);
        match state {
            state::DEPARTED => Some(format!("rank {rank} (process {process}) has destroyed its communicator")),
            state::ABORTED => Some(format!("rank {rank} (process {process}) has aborted its communicator")),
            state::ATTACHED if !is_locked(&self.file, FIRST_RANK_LOCK + rank as i64, 1) => {
                Some(format!("rank {rank} (process {process}) has ended"))
            }
            _ => None,
        }
    }

    /// Ends the communicator for all ranks with an error. Returns false if there is one already.
    pub(crate) fn raise(&self, failure: &Failure) -> bool {
        let head = self.head();
        if head.claimed.swap(1, Ordering::AcqRel) != 0 {
            return false;
        }
        let text = failure.text.as_bytes();
        let bytes = text.len().min(TEXT);
        let place = self.base.wrapping_add(HEAD - TEXT);
        // SAFETY: the text's room lies in the head, and only the rank that claimed it writes it.
        unsafe { place.copy_from_nonoverlapping(text.as_ptr(), bytes) };
        head.text_bytes.store(bytes as u64, Ordering::Relaxed);
        head.error.store(failure.code.0, Ordering::Release);
        self.ring_all();
        true
    }

    /// Returns the error that ended the communicator.
    pub(crate) fn raised(&self) -> Option<Failure> {
        let code = self.head().error.load(Ordering::Acquire);
        if code == 0 {
            return None;
        }
        let bytes = (self.head().text_bytes.load(Ordering::Relaxed) as usize).min(TEXT);
        // SAFETY: the text was written before the code, and is never written again.
        let text = unsafe { std::slice::from_raw_parts(self.base.wrapping_add(HEAD - TEXT), bytes) };
        Some(Failure::new(Code(code), String::from_utf8_lossy(text)))
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no reference to it is left.
        unsafe { libc::munmap(self.base.cast(), self.layout.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_stay_within_the_budget_and_rings_do_not_overlap() {
        assert!(HEAD - TEXT >= size_of::<Head>());
        for ranks in [1, 2, 3, 4, 8, 16, 64, MOST_RANKS] {
            let layout = Layout::of(ranks);
            let count = ranks * (ranks - 1) * LANES * SLOTS as usize;
            assert!(layout.slot_bytes.is_power_of_two() && layout.rings.is_multiple_of(64));
            assert!(count * layout.slot_bytes <= BUDGET || layout.slot_bytes == LEAST_SLOT, "{layout:?}");
            let mut numbers: Vec<_> = (0..ranks)
                .flat_map(|from| (0..ranks).filter(move |to| *to != from).map(move |to| (from, to)))
                .flat_map(|(from, to)| (0..LANES).map(move |lane| layout.ring(from, to, lane)))
                .collect();
            numbers.sort_unstable();
            assert!(numbers.iter().enumerate().all(|(at, number)| at == *number));
        }
    }

    #[test]
    fn ids_of_others_are_refused() {
        let id = new_id().expect("random numbers");
        assert!(name_of(&id).expect("an id").starts_with(PREFIX));
        assert_eq!(name_of(&UniqueId { internal: [7; 128] }).unwrap_err().code, Code::ncclInvalidArgument);
    }

    #[test]
    fn a_file_that_was_left_behind_is_removed_and_one_in_use_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = SystemTime::now() - 2 * STALE;
        let make = |name: &str| {
            let file = File::create(folder.path().join(name)).expect("a file");
            file.set_modified(old).expect("a time");
            file
        };
        drop(make("nccl-sim-left"));
        drop(make("other"));
        let used = make("nccl-sim-used");
        assert!(lock(&used, libc::F_WRLCK, FIRST_RANK_LOCK, false));
        sweep(folder.path());
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!([left("nccl-sim-left"), left("other"), left("nccl-sim-used")], [false, true, true]);
    }

    #[test]
    fn a_dropped_rank_is_gone_and_the_first_error_stays() {
        let id = new_id().expect("random numbers");
        let first = Segment::attach(&id, 2, 0).expect("it attaches");
        assert!(!first.is_complete());
        assert_eq!(Segment::attach(&id, 2, 0).err().expect("rank 0 is taken").code, Code::ncclInvalidUsage);
        assert_eq!(Segment::attach(&id, 3, 1).err().expect("another size").code, Code::ncclInvalidArgument);
        let second = Segment::attach(&id, 2, 1).expect("it attaches");
        assert!(first.is_complete() && second.is_complete());
        first.unlink();
        assert_eq!((first.gone(1), second.gone(0)), (None, None));
        assert!(second.raise(&Failure::usage("first")) && !first.raise(&Failure::argument("second")));
        assert_eq!(first.raised(), Some(Failure::usage("first")));
        drop(second);
        assert!(first.gone(1).expect("it is gone").contains("has ended"));
    }

    /// Found: a rank said that it had attached before its lock showed that its process runs.
    #[test]
    fn a_rank_that_attaches_is_never_gone() {
        for _ in 0..300 {
            let id = new_id().expect("random numbers");
            let first = Segment::attach(&id, 2, 0).expect("it attaches");
            std::thread::scope(|scope| {
                let second = scope.spawn(|| Segment::attach(&id, 2, 1).expect("it attaches"));
                while !second.is_finished() {
                    assert_eq!(first.gone(1), None);
                }
            });
            first.unlink();
        }
    }
}
