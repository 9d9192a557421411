//! The question that checked code asks before each access.
//!
//! # Safety
//!
//! Compiled code passes the context of its running block. Values for reports are read from memory whose bounds were
//! checked just before.

use super::chunks::Accesses;
use super::history::Sort;
use super::race::{Conflict, Strong};
use super::report::Report;
use super::shadow::{
    Bytes, Location, PAGE, Page, PageKind, Record, first_missing, first_present, insert, parts, place,
};
use super::{Checker, events, memory, with};
use crate::codegen::abi::{self, Access, Context, Scope};
use crate::environment::Checks;
use crate::exec::fault;
use crate::exec::search::{self, Found};
use crate::memory::MEMORY;

/// The bytes of a structure with padding.
const STRUCTURE: usize = crate::ir::demanded::STRUCTURE as usize;

/// The bits of an offset in a block's shared memory.
const IN_WINDOW: u64 = (1 << abi::WINDOW) - 1;

/// An access that is about to be made.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) thread: u64,
    pub(super) address: u64,
    pub(super) bytes: u32,
    /// The properties of `abi::access`.
    pub(super) kind: u32,
    pub(super) position: u64,
    pub(super) value: u64,
    /// True if the access was made already, and is checked together with others ([`super::batch`]).
    pub(super) made: bool,
    /// True if an asynchronous copy makes it.
    pub(super) of_copy: bool,
}

impl Asked {
    pub(super) fn access(&self) -> Access {
        Access::new(self.kind)
    }

    fn has(&self, bit: u32) -> bool {
        self.kind & bit != 0
    }

    fn scope(&self) -> Scope {
        Scope::new(self.kind >> abi::access::SCOPE & 3)
    }

    /// Returns the number of elements of a strong access to a vector, or 1.
    fn elements(&self) -> u64 {
        1 << (self.kind >> abi::access::ELEMENTS & 3)
    }

    /// Returns the location of a strong access, or of each element of one.
    fn location(&self) -> Location {
        let bytes = u64::from(self.bytes) / self.elements();
        let reads_word =
            self.access() == Access::Load || (self.access() == Access::Atomic && self.has(abi::access::SWAPS));
        let is_of_word = bytes == 4 && reads_word;
        Location { scope: self.scope(), size: if is_of_word { Location::OF_WORD } else { bytes.max(1).ilog2() } }
    }

    /// Returns true for an access to a word of which a part may be beyond the end of shared memory: an atomic operation
    /// on a byte can be one on its word, which is read before by a strong load.
    pub(super) fn may_end_beyond(&self) -> bool {
        match self.access() {
            Access::Atomic => true,
            Access::Load => self.has(abi::access::STRONG),
            Access::Store => false,
        }
    }

    /// Returns the first byte of `range`, those of the access, that was not written and is read. Bytes that nothing uses are not,
    /// unless nobody wrote a byte of the value; one that is copied beside others may be padding, if bytes beside it were written.
    fn first_unwritten(&self, set: &Bytes, range: std::ops::Range<usize>) -> Option<usize> {
        let first = first_missing(set, range.clone())?;
        let unused = self.kind >> abi::access::UNUSED & 0xf;
        if unused == 0 || self.access() != Access::Load || self.has(abi::access::STRONG) {
            return Some(first);
        }
        if first_present(set, range.clone()).is_none() {
            let structure = range.start / STRUCTURE * STRUCTURE..(range.start / STRUCTURE + 1) * STRUCTURE;
            let is_padding = self.has(abi::access::PART) && first_present(set, structure).is_some();
            return (!is_padding).then_some(first);
        }
        let unit = (self.bytes as usize / 4).max(1);
        let quarters = range.step_by(unit).enumerate().filter(|(at, _)| unused & 1 << at == 0);
        quarters.filter_map(|(_, start)| first_missing(set, start..start + unit)).next()
    }

    /// Returns true for the load or the store of a scalar copy.
    fn copies(&self) -> bool {
        self.access() != Access::Atomic && self.has(abi::access::COPIES)
    }

    fn space(&self) -> u32 {
        self.kind >> abi::access::SPACE & 7
    }

    pub(super) fn what(&self) -> String {
        described(self.access(), self.bytes)
    }
}

pub(super) fn described(access: Access, bytes: u32) -> String {
    format!("{} of {bytes} byte{}", access.name(), if bytes == 1 { "" } else { "s" })
}

/// Called by checked code before each access. It does not return from an illegal one.
pub(crate) extern "C" fn access(
    context: *const Context,
    thread: u64,
    address: u64,
    kind: u32,
    position: u64,
    value: u64,
) {
    // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
    let own = unsafe { &*context };
    let bytes = kind >> abi::access::BYTES & 0xff;
    let asked = Asked { thread, address, bytes, kind, position, value, made: false, of_copy: false };
    if let Some(Err(instead)) = with(|checker| checker.access(own, asked)) {
        fault::raise(instead);
    }
}

/// Called by checked code at a fence, with the properties of [`abi::fence`].
pub(crate) extern "C" fn fence(context: *const Context, thread: u64, kind: u32) {
    // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
    let own = unsafe { &*context };
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            let [acquires, releases] = [abi::fence::ACQUIRES, abi::fence::RELEASES].map(|bit| kind & bit != 0);
            checker.race.fence(thread as usize, Scope::new(kind & abi::fence::SCOPE), acquires, releases);
        }
    });
}

impl Checker {
    /// Makes the running block the current one.
    #[inline]
    pub(super) fn enter(&mut self, own: &Context) {
        if self.race.block.number != own.running {
            self.enter_other(own);
        }
    }

    fn enter_other(&mut self, own: &Context) {
        let resident = own.resident != 0;
        if self.race.enter(own.running, own.threads as usize, resident) && self.checks.has(Checks::INIT) {
            // Its shared and local memory have no contents yet.
            let window = own.shared + (u64::from(own.cluster.rank) << abi::WINDOW);
            let reserved = self.reserved_shared();
            let total = u64::from(own.total_shared_bytes);
            let areas = [
                (window, reserved.start, PageKind::Shared),
                (window + reserved.end, total - reserved.end, PageKind::Shared),
                (own.local, own.local_stride * own.threads, PageKind::Local),
            ];
            for (start, bytes, kind) in areas {
                for (at, range) in parts(start, bytes) {
                    let page = self.pages.find(at).filter(|page| page.kind == kind);
                    if let Some(page) = page.filter(|page| page.written.is_some()) {
                        page.unwrite(range);
                        // Places may know the page as written.
                        self.bounds.fill(abi::Bounds::default());
                    }
                }
            }
        }
    }

    /// Checks an access; an illegal one is refused with an address at which to fault.
    #[inline]
    pub(super) fn access(&mut self, own: &Context, asked: Asked) -> Result<(), u64> {
        self.enter(own);
        let Asked { address, bytes, .. } = asked;
        if self.pages.find(address).is_none() && !self.add_page(own, asked)? {
            return Ok(());
        }
        let Some(page) = self.pages.find(address) else { return Ok(()) };
        let offset = (address % PAGE) as u32;
        let kind = page.kind;
        let aligned = address & u64::from(bytes.wrapping_sub(1)) == 0;
        if !aligned || !page.reaches(offset, bytes, asked.may_end_beyond()) || !is_own(own, asked, kind) {
            return self.illegal(own, asked, Some(kind));
        }
        let page = if asked.copies() {
            if self.follow_copy(own, asked, kind) {
                return self.race(own, asked, kind);
            }
            let Some(page) = self.pages.find(address) else { return Ok(()) };
            page
        } else {
            page
        };
        let access = asked.access();
        if let Some(set) = &mut page.written {
            let range = offset as usize..(offset + bytes).min(page.high) as usize;
            let only_moves = kind == PageKind::Local && asked.has(abi::access::MOVES);
            let overwrites = access == Access::Atomic && asked.has(abi::access::OVERWRITES);
            if access != Access::Store
                && !only_moves
                && !overwrites
                && let Some(first) = asked.first_unwritten(set, range.clone())
            {
                let first = first as u64 - u64::from(offset);
                insert(set, range);
                self.uninitialised(own, asked, kind, first, None);
                return self.race(own, asked, kind);
            }
            if access != Access::Load {
                insert(set, range);
            }
        }
        if self.is_bounded && !asked.made {
            self.learn_bounds(own, asked);
        }
        self.race(own, asked, kind)
    }

    #[inline]
    fn race(&mut self, own: &Context, asked: Asked, kind: PageKind) -> Result<(), u64> {
        let is_shared = kind == PageKind::Shared;
        if !self.checks.has(Checks::RACE) || !(is_shared || kind == PageKind::Global) {
            return Ok(());
        }
        let Asked { thread, address, bytes, .. } = asked;
        let access = asked.access();
        let strong = asked.has(abi::access::STRONG).then(|| asked.location());
        let now = self.race.record(thread, place(asked.position));
        let now = now.with(access != Access::Load, access == Access::Atomic, strong);
        let since = self.race.since(kind);
        let Some(page) = self.pages.find(address) else { return Ok(()) };
        let offset = (address % PAGE) as u32;
        let may_meet_copy = !asked.of_copy && page.may_meet_copy(asked.range(), now.writes());
        if let Some(tracked) = self.tracked.as_mut().filter(|_| !is_shared) {
            let sort = Sort::of(now.writes(), strong.is_some() || access == Access::Atomic);
            let range = offset as usize..(offset + bytes) as usize;
            if !tracked.access(page, address / PAGE, range.clone(), sort) {
                self.meets_other(asked, now, range, sort);
            }
        }
        if may_meet_copy {
            self.meets_copy(own, asked, kind);
        }
        let Some(page) = self.pages.find(address) else { return Ok(()) };
        let one = Accesses { offset, bytes, threads: 1, same: false };
        if strong.is_none() && access != Access::Atomic && self.race.run(page, one, now, since) {
            return Ok(());
        }
        if let Some(conflict) = self.race.access(page, offset, bytes, now, since) {
            self.conflict(own, asked, kind, now, conflict);
        }
        if let Some(Location { scope, .. }) = strong.filter(|_| !asked.has(abi::access::OBJECT)) {
            let strong = Strong {
                reads: access != Access::Store,
                writes: access != Access::Load,
                acquires: asked.has(abi::access::ACQUIRE),
                releases: asked.has(abi::access::RELEASE),
                scope,
            };
            // The elements of a vector are locations of their own.
            let elements = asked.elements();
            for at in (0..elements).map(|element| address + u64::from(bytes) / elements * element) {
                self.race.strong(thread as usize, at, is_shared && own.cluster.ranks == 0, strong);
            }
        }
        Ok(())
    }

    /// Reports an access that conflicts with one of another operation.
    #[cold]
    fn meets_other(&mut self, asked: Asked, now: Record, range: std::ops::Range<usize>, sort: Sort) {
        let own = self.accessed(asked.what(), now.thread(), now.place, None);
        if let Some(tracked) = &self.tracked {
            self.reported |= tracked.conflict(asked.address / PAGE, range, sort, own);
        }
    }

    /// Notes where the place of an access need not ask again: within its array, or within its page if all of that was
    /// written.
    fn learn_bounds(&mut self, own: &Context, asked: Asked) {
        let Some(page) = self.pages.find(asked.address) else { return };
        let mut area = page.area.clone();
        if let Some(set) = &page.written {
            let start = asked.address / PAGE * PAGE;
            if first_missing(set, page.low as usize..page.high as usize).is_some() {
                return;
            }
            area = start + u64::from(page.low)..start + u64::from(page.high);
        }
        let slot = (asked.kind >> abi::access::BOUNDS) as usize % abi::BOUNDS_COUNT;
        let is_own = page.kind == PageKind::Global || (page.kind == PageKind::Shared && own.cluster.ranks == 0);
        if is_own && page.valid.is_none() {
            let count = (area.end - area.start + 1).saturating_sub(asked.bytes.into());
            self.bounds[slot] = abi::Bounds { first: area.start, count };
        }
    }

    /// Adds the page of an access. Returns false for accessible memory whose bounds are not checked.
    fn add_page(&mut self, own: &Context, asked: Asked) -> Result<bool, u64> {
        // The host may have allocated meanwhile.
        self.catch_up();
        match self.new_page(own, asked.address) {
            Some(page) => {
                self.pages.insert(asked.address, page);
                Ok(true)
            }
            None => self.illegal(own, asked, None).map(|()| false),
        }
    }

    /// Returns the shadow of a page that the running block may access and that has none yet.
    pub(super) fn new_page(&self, own: &Context, address: u64) -> Option<Page> {
        let (params, shared) = self.running.as_ref().map_or((0, 0), |running| {
            (size_of_val(running.launch.params.as_slice()) as u64, running.launch.exact_shared_bytes())
        });
        let is_reached = !MEMORY.owns(address) || MEMORY.reaches(own.slots, address);
        let mut page = memory::page(own, address, params, shared).filter(|_| is_reached)?;
        if page.kind == PageKind::Shared {
            // Libraries begin there with atomic operations, whatever it holds.
            let window = own.shared + (address.wrapping_sub(own.shared) & !IN_WINDOW);
            let reserved = self.reserved_shared();
            let of_page = |(at, _): &(u64, std::ops::Range<usize>)| *at == address / PAGE * PAGE;
            let there = parts(window + reserved.start, reserved.end - reserved.start).find(of_page);
            if let (Some((_, range)), Some(set)) = (there, &mut page.written) {
                insert(set, range);
            }
        }
        page.launch = self.running.as_ref().map_or(0, |running| running.launch.grid_id);
        if !self.checks.has(Checks::INIT) {
            page.written = None;
        }
        Some(page)
    }

    /// An access that is not to the accessible bytes of a page. It is allowed if bounds are not checked and the memory
    /// exists.
    #[cold]
    fn illegal(&mut self, own: &Context, asked: Asked, kind: Option<PageKind>) -> Result<(), u64> {
        let Asked { thread, address, bytes, position, .. } = asked;
        let aligned = address.is_multiple_of(u64::from(bytes).max(1));
        if aligned && kind.is_some_and(|kind| kind == PageKind::Global) && !MEMORY.owns(address) {
            // Several registrations of host memory may share a page.
            if MEMORY.covers(address, bytes.into(), own.slots) {
                return Ok(());
            }
        }
        if aligned && !self.checks.has(Checks::MEMORY) {
            let end = address.saturating_add(bytes.into());
            let shared = search::is_shared(own, address, bytes.into());
            let exists = MEMORY.accessible(address).is_some_and(|pages| end <= pages.end);
            if shared || (exists && (!MEMORY.owns(address) || MEMORY.reaches(own.slots, address))) {
                return Ok(());
            }
        }
        let shared = (own.shared, self.shared_bytes());
        let (access, block, cluster) = (asked.access(), own.running, own.cluster);
        self.found.get_or_insert(Found {
            thread,
            address,
            bytes: bytes.into(),
            access,
            position,
            block,
            shared,
            cluster,
            is_global: asked.space() == 1,
        });
        if self.checks.has(Checks::MEMORY) {
            let what = kind_of(own, asked, kind, aligned);
            let array = self.array(own, asked.address, kind, asked.space() == 2);
            let accessed = self.accessed(asked.what(), global(own, thread), place(position), None);
            let freed = events::heap_block(address).filter(|_| aligned).and_then(|(_, block)| block.freed.clone());
            let accesses = std::iter::once(accessed).chain(freed).collect();
            self.report(Report {
                check: "memory",
                kind: what,
                kernel: self.kernel_name(),
                array: Some(array),
                address: Some(address),
                accesses,
                ..Report::default()
            });
        }
        let guards = MEMORY.guards();
        Err(if aligned { guards.outside } else { guards.misaligned })
    }

    /// Returns the bytes of a block's shared memory.
    fn shared_bytes(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.launch.exact_shared_bytes())
    }

    /// Returns the offsets of the shared memory that is reserved for libraries.
    fn reserved_shared(&self) -> std::ops::Range<u64> {
        self.running.as_ref().map_or(0..0, |running| running.launch.reserved_shared())
    }

    /// Returns the name of the array at an address.
    pub(super) fn array(&self, own: &Context, address: u64, kind: Option<PageKind>, named_shared: bool) -> String {
        let offset = address.wrapping_sub(own.shared).cast_signed();
        let near = offset.unsigned_abs() < 1 << 30 && (named_shared || MEMORY.find(address).is_none());
        if kind == Some(PageKind::Shared) || near {
            let bytes = self.shared_bytes();
            return match own.cluster.ranks {
                0 => format!("offset {offset} of shared memory ({bytes} bytes)"),
                _ => format!(
                    "offset {} of the shared memory ({bytes} bytes) of block {} of its cluster",
                    offset & IN_WINDOW.cast_signed(),
                    offset >> abi::WINDOW
                ),
            };
        }
        if kind == Some(PageKind::Local) {
            let offset = address.wrapping_sub(own.local);
            let stride = own.local_stride.max(1);
            return format!(
                "offset {} of the local memory ({stride} bytes) of thread {}",
                offset % stride,
                offset / stride
            );
        }
        if kind == Some(PageKind::Param) {
            return format!("offset {} of the kernel's parameters", address.wrapping_sub(own.params as u64));
        }
        memory::name(address)
    }

    #[cold]
    pub(super) fn uninitialised(
        &mut self,
        own: &Context,
        asked: Asked,
        kind: PageKind,
        first: u64,
        stored: Option<Asked>,
    ) {
        let array = self.array(own, asked.address + first, Some(kind), false);
        let accessed = |at: Asked| self.accessed(at.what(), global(own, at.thread), place(at.position), None);
        let accesses = std::iter::once(asked).chain(stored).map(accessed).collect();
        let note = (first > 0).then(|| format!("byte {first} of the access is the first that nobody wrote"));
        self.report(Report {
            check: "init",
            kind: "read of uninitialised memory",
            kernel: self.kernel_name(),
            array: Some(array),
            address: Some(asked.address + first),
            note,
            accesses,
            ..Report::default()
        });
    }

    #[cold]
    fn conflict(&mut self, own: &Context, asked: Asked, kind: PageKind, now: Record, conflict: Conflict) {
        let Conflict { earlier, at } = conflict;
        if kind == PageKind::Shared
            && self.reserved_shared().contains(&(asked.address.wrapping_sub(own.shared) & IN_WINDOW))
        {
            // Libraries rely there on an order that shuffles give on a GPU, and let threads of a warp store one value.
            return;
        }
        let held = read(asked.address, asked.bytes);
        let stores = asked.access() == Access::Store && asked.has(abi::access::VALUE);
        let stored = stores.then(|| truncated(asked.value, asked.bytes));
        let (value, before) = match asked.made {
            false => (stored.or(held), held),
            // Memory holds what was stored last.
            true => {
                let before =
                    self.recorded(own, |thread, place| thread == earlier.thread() && place == earlier.place, asked);
                let known = held.filter(|_| !stores && self.recorded(own, |_, _| true, asked).is_none());
                (stored.or(known), before.or(known).filter(|_| earlier.writes()))
            }
        };
        let same = stores && earlier.writes() && !earlier.is_atomic() && before == value;
        let access = match (earlier.is_atomic(), earlier.writes()) {
            (true, _) => Access::Atomic,
            (_, true) => Access::Store,
            _ => Access::Load,
        };
        let kind_text = match (now.writes(), earlier.writes()) {
            (true, true) => "race of two writes",
            (false, true) => "race of a read with an earlier write",
            _ => "race of a write with an earlier read",
        };
        let array = self.array(own, asked.address + u64::from(at), Some(kind), false);
        let accesses = vec![
            self.accessed(asked.what(), now.thread(), now.place, value),
            self.accessed(access.name().to_owned(), earlier.thread(), earlier.place, before),
        ];
        self.report(Report {
            check: "race",
            kind: kind_text,
            kernel: self.kernel_name(),
            array: Some(array),
            address: Some(asked.address + u64::from(at)),
            note: same.then(|| "both write the same value".to_owned()),
            accesses,
            ..Report::default()
        });
    }
}

/// Returns the number of a thread of the running block in blocks of 1024.
pub(super) fn global(own: &Context, thread: u64) -> u64 {
    own.running << super::clocks::THREAD_BITS | thread
}

/// Returns true if an access to accessible memory is one that its instruction and thread may make.
#[inline]
pub(super) fn is_own(own: &Context, asked: Asked, kind: PageKind) -> bool {
    match (kind, asked.space()) {
        (PageKind::Global, 0 | 1 | 4) => true,
        (PageKind::Shared, 0 | 2) => {
            let bytes = if asked.may_end_beyond() { 1 } else { asked.bytes };
            own.cluster.ranks == 0 || search::is_shared(own, asked.address, bytes.into())
        }
        (PageKind::Local, 0 | 3) => {
            let offset = asked.address.wrapping_sub(own.local + asked.thread * own.local_stride);
            offset < own.local_stride
        }
        (PageKind::Param, 0 | 5) => asked.access() == Access::Load,
        // Constants of older compilers are in parameters.
        (PageKind::Param, 4) => true,
        _ => false,
    }
}

/// Names the mistake of an illegal access.
fn kind_of(own: &Context, asked: Asked, kind: Option<PageKind>, aligned: bool) -> &'static str {
    let address = asked.address;
    if !aligned {
        return "misaligned access";
    }
    match kind {
        Some(PageKind::Param) if asked.access() != Access::Load => return "write to the parameters",
        Some(PageKind::Local) if matches!(asked.space(), 0 | 3) => return "access to another thread's local memory",
        Some(kind) if !is_own(own, asked, kind) && own.cluster.ranks == 0 => {
            return "access to memory of another space";
        }
        _ => {}
    }
    if address < PAGE {
        "null pointer"
    } else if MEMORY.owns(address) {
        let is_freed = events::allocation(address).is_some_and(|(_, live)| !live)
            || events::heap_block(address).is_some_and(|(_, block)| block.freed.is_some());
        if is_freed { "use after free" } else { "out of bounds" }
    } else if asked.space() != 2 && is_mapped(address) {
        "host pointer"
    } else {
        "out of bounds"
    }
}

/// Returns true if an address is in memory of the process.
fn is_mapped(address: u64) -> bool {
    let page = *crate::memory::PAGE;
    let mut resident = [0u8];
    // SAFETY: `mincore` accesses no memory but the result, which has room for one page.
    unsafe { libc::mincore((address / page * page) as *mut libc::c_void, page as usize, resident.as_mut_ptr()) == 0 }
}

pub(super) fn truncated(value: u64, bytes: u32) -> u64 {
    if bytes >= 8 { value } else { value & ((1 << (8 * bytes)) - 1) }
}

/// Returns what up to eight bytes of memory hold.
fn read(address: u64, bytes: u32) -> Option<u64> {
    let mut held = [0u8; 8];
    let count = bytes.min(8) as usize;
    // SAFETY: the access was found to be within accessible memory, for at least this many bytes.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, held.as_mut_ptr(), count) };
    Some(u64::from_le_bytes(held))
}
