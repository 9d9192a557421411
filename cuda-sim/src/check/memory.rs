//! Bounds: the shadow of a page that a kernel accesses first, and the descriptions of addresses.

use super::events;
use super::shadow::{self, PAGE, Page, PageKind, parts};
use crate::codegen::abi::{self, Context};
use crate::exec::search;
use crate::memory::{Allocation, AllocationKind, MEMORY, PoolMemory};
use std::ops::Range;

/// Returns the part of a range that is in the page of an address, as offsets.
fn within(address: u64, start: u64, bytes: u64) -> Option<Range<u32>> {
    let page = address / PAGE * PAGE;
    let (from, to) = (start.max(page), start.saturating_add(bytes).min(page + PAGE));
    (from < to).then(|| (from - page) as u32..(to - page) as u32)
}

/// Returns true if the memory of an allocation counts as written from the start.
fn counts_as_written(kind: AllocationKind) -> bool {
    match kind {
        AllocationKind::Device | AllocationKind::Graph(_) => false,
        AllocationKind::Pooled(pool) | AllocationKind::Cached(pool) => pool.memory != PoolMemory::Device,
        AllocationKind::Managed
        | AllocationKind::Host(_)
        | AllocationKind::Imported
        | AllocationKind::External
        | AllocationKind::Mapped(_)
        | AllocationKind::Internal => true,
    }
}

/// Returns the shadow of a page of global memory.
pub(super) fn global_page(address: u64) -> Option<Page> {
    let page = address / PAGE * PAGE;
    let is_live = |found: &Allocation| !matches!(found.kind, AllocationKind::Cached(_)) || events::is_live(found.base);
    let found = MEMORY.find_cached(address).filter(is_live);
    if let Some(found) = found {
        let range = within(address, found.base, found.bytes)?;
        let written = counts_as_written(found.kind) || super::session::is_older(found.id);
        let mut new = Page::new(PageKind::Global, range, written, found.base..found.base + found.bytes);
        if found.kind == AllocationKind::Internal {
            restrict(&mut new, page, found.base);
        }
        return Some(new);
    }
    let registered = MEMORY.registration(address)?;
    let range = within(address, registered.start, registered.bytes)?;
    Some(Page::new(PageKind::Global, range, true, registered.start..registered.start + registered.bytes))
}

/// Restricts a page of a module's variables, or of the device's heap, to what is allocated there.
fn restrict(new: &mut Page, page: u64, base: u64) {
    let mut set = Box::new([0; PAGE as usize / 64]);
    let mut any = false;
    for (at, variable) in events::variables_in(page..page + PAGE) {
        if let Some(range) = within(page, at, variable.bytes) {
            shadow::insert(&mut set, range.start as usize..range.end as usize);
        }
        any |= at >= base;
    }
    if any {
        new.valid = Some(set);
    }
}

/// Returns the shadow of a page that the running block accesses.
pub(super) fn page(own: &Context, address: u64, param_bytes: u64, shared_bytes: u64) -> Option<Page> {
    let window = match own.cluster.ranks {
        0 => own.shared,
        _ => {
            let offset = address.wrapping_sub(own.shared) >> abi::WINDOW << abi::WINDOW;
            own.shared.wrapping_add(offset)
        }
    };
    if search::is_shared(own, address, 1) {
        return Some(Page::new(
            PageKind::Shared,
            within(address, window, shared_bytes)?,
            false,
            window..window + shared_bytes,
        ));
    }
    let local = own.local_stride * own.threads;
    if address.wrapping_sub(own.local) < local {
        return Some(Page::new(
            PageKind::Local,
            within(address, own.local, local)?,
            false,
            own.local..own.local + local,
        ));
    }
    let params = own.params as u64;
    if address.wrapping_sub(params) < param_bytes {
        return Some(Page::new(
            PageKind::Param,
            within(address, params, param_bytes)?,
            true,
            params..params + param_bytes,
        ));
    }
    global_page(address)
}

/// Returns the name of the array at an address, with the offset in it.
pub(crate) fn name(address: u64) -> String {
    if let Some((at, block)) = events::heap_block(address) {
        let what = format!("{} bytes of `malloc`", block.bytes);
        let text = within_array(address - at, block.bytes, &what);
        return if block.freed.is_some() { format!("{text}, which were freed") } else { text };
    }
    let before = events::variables_in(address..address + 1).pop();
    if let Some((at, variable)) = before.filter(|(at, variable)| address - at < variable.bytes.max(1) + 256) {
        let what = match &variable.block {
            Some(block) => format!("{} bytes of `malloc`", block.bytes),
            None => format!("variable `{}` ({} bytes)", variable.name, variable.bytes),
        };
        let bytes = variable.block.map_or(variable.bytes, |block| block.bytes);
        return within_array(address - at, bytes, &what);
    }
    if let Some((named, live)) = events::allocation(address) {
        let offset = address - named.base;
        if offset < named.bytes + 2 * PAGE {
            let what = format!("allocation {} ({} bytes, made by {})", named.number, named.bytes, named.function);
            let text = within_array(offset, named.bytes, &what);
            return if live { text } else { format!("{text}, which was freed") };
        }
    }
    if let Some((named, _)) = events::allocation(address + PAGE).filter(|(named, _)| named.base > address) {
        let what = format!("allocation {} ({} bytes, made by {})", named.number, named.bytes, named.function);
        return format!("{} bytes before {what}", named.base - address);
    }
    format!("{address:#x} ({})", MEMORY.describe(address))
}

/// Describes an offset relative to an array.
fn within_array(offset: u64, bytes: u64, what: &str) -> String {
    if offset < bytes {
        format!("offset {offset} of {what}")
    } else {
        format!("offset {offset}, {} bytes past the end of {what}", offset - bytes)
    }
}

/// Returns the first byte of a range that the host reads and nothing wrote, and the number of such bytes.
pub(super) fn unwritten(pages: &mut shadow::Pages, start: u64, bytes: u64) -> Option<(u64, u64)> {
    let (mut first, mut count) = (None, 0);
    for (page, range) in parts(start, bytes) {
        let Some(set) = ensure(pages, page, page + range.start as u64).and_then(|page| page.written.as_ref()) else {
            continue;
        };
        for byte in range {
            if shadow::first_missing(set, byte..byte + 1).is_some() {
                first = first.or(Some(page + byte as u64));
                count += 1;
            }
        }
    }
    first.map(|first| (first, count))
}

/// Returns the shadow of a page of global memory, which is created if it has none.
pub(super) fn ensure(pages: &mut shadow::Pages, page: u64, address: u64) -> Option<&mut Page> {
    if pages.find(page).is_none() {
        pages.insert(page, global_page(address)?);
    }
    pages.find(page)
}

/// Marks bytes as written.
pub(super) fn mark(pages: &mut shadow::Pages, start: u64, bytes: u64) {
    for (page, range) in parts(start, bytes) {
        if let Some(set) = ensure(pages, page, page + range.start as u64).and_then(|page| page.written.as_mut()) {
            shadow::insert(set, range);
        }
    }
}

/// Copies the marks of bytes.
pub(super) fn copy(pages: &mut shadow::Pages, to: u64, from: u64, bytes: u64) {
    let mut missing = Vec::new();
    for (page, range) in parts(from, bytes) {
        let Some(set) = ensure(pages, page, page + range.start as u64).and_then(|page| page.written.as_ref()) else {
            continue;
        };
        let unwritten = range.filter(|byte| shadow::first_missing(set, *byte..*byte + 1).is_some());
        missing.extend(unwritten.map(|byte| page + byte as u64 - from));
    }
    mark(pages, to, bytes);
    for offset in missing {
        let (page, byte) = ((to + offset) / PAGE * PAGE, ((to + offset) % PAGE) as usize);
        if let Some(page) = pages.find(page) {
            page.unwrite(byte..byte + 1);
        }
    }
}
