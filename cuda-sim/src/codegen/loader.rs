//! The loader: offsets object files in memory as executable code.
//!
//! A kernel's object file is small and uses few features: sections, which are placed in one mapping, and relocations
//! that refer to them and to the functions that kernels call ([`math::symbols`], and functions that LLVM calls, such as
//! `memcpy`). Those may be at any address, so a reference to them goes through a table of addresses, and a call through
//! a jump stub.
//!
//! # Safety
//!
//! An object file was made by our own compiler, in this process or an earlier one. It is only written into its own
//! mapping, at offsets that are checked against the mapping's length.

use super::math;
use object::elf;
use object::read::elf::ElfFile64;
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget, SectionFlags, SectionIndex,
    SymbolIndex,
};
use once_cell::sync::Lazy;
use std::collections::HashMap;
use std::ffi::CString;

/// The name of a module's entry function.
const KERNEL: &str = "kernel";
/// The size of a jump stub, on any CPU.
const JUMP: usize = 16;
/// The page protections of code, of constants and of variables, in memory order.
const PROTECTIONS: [i32; 3] = [libc::PROT_READ | libc::PROT_EXEC, libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE];

/// The machine code of one module, which is unmapped on drop.
#[derive(Debug)]
pub(super) struct Code {
    /// The address of the entry function.
    pub(super) address: usize,
    _pages: Pages,
}

/// An owned memory mapping.
#[derive(Debug)]
struct Pages {
    start: usize,
    bytes: usize,
}

impl Pages {
    fn new(bytes: usize) -> Result<Self, String> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: an anonymous mapping at an address that the system chooses touches no existing memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(format!("no memory for {bytes} bytes of machine code"));
        }
        Ok(Pages { start: start as usize, bytes })
    }

    fn protect(&self, from: usize, to: usize, protection: i32) -> Result<(), String> {
        // SAFETY: the range is inside the mapping, and no reference into it exists.
        let failed = from < to && unsafe { libc::mprotect((self.start + from) as *mut _, to - from, protection) != 0 };
        if failed { Err("the system does not let memory be executed".to_owned()) } else { Ok(()) }
    }

    /// Writes at an offset.
    fn write(&self, at: usize, bytes: &[u8]) -> Result<(), String> {
        if at.checked_add(bytes.len()).is_none_or(|end| end > self.bytes) {
            return Err(BROKEN.to_owned());
        }
        // SAFETY: the range was checked to be inside the mapping, which is writable and not yet visible to others.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (self.start + at) as *mut u8, bytes.len()) };
        Ok(())
    }

    /// Returns the 4-byte word at an offset.
    #[cfg(target_arch = "aarch64")]
    fn word(&self, at: usize) -> Result<u32, String> {
        if at.checked_add(4).is_none_or(|end| end > self.bytes) {
            return Err(BROKEN.to_owned());
        }
        // SAFETY: the word was checked to be inside the mapping.
        Ok(u32::from_le_bytes(unsafe { std::ptr::read_unaligned((self.start + at) as *const [u8; 4]) }))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned by this value, and no code in it runs any more: launches hold the owner.
        unsafe { libc::munmap(self.start as *mut _, self.bytes) };
    }
}

const BROKEN: &str = "an object file has a relocation outside of its sections";

/// The functions that kernels call, by name.
static FUNCTIONS: Lazy<HashMap<&str, usize>> = Lazy::new(|| math::symbols().into_iter().collect());

/// Loads an object file's code into memory.
pub(super) fn load(object: &[u8]) -> Result<Code, String> {
    let file = ElfFile64::<object::Endianness>::parse(object).map_err(|error| error.to_string())?;
    let plan = MappingLayout::of(&file)?;
    let pages = Pages::new(plan.bytes)?;
    for (index, at) in &plan.offsets {
        let section = file.section_by_index(*index).map_err(|error| error.to_string())?;
        pages.write(*at, section.data().map_err(|error| error.to_string())?)?;
    }
    for (&symbol, &slot) in &plan.slots {
        let address = plan.address(&file, symbol, pages.start)?;
        pages.write(plan.table + 8 * slot, &(address as u64).to_le_bytes())?;
        let (jump, entry) = (plan.jumps + JUMP * slot, plan.table + 8 * slot);
        pages.write(jump, &jump_through(pages.start + jump, pages.start + entry))?;
    }
    for (index, at) in &plan.offsets {
        let section = file.section_by_index(*index).map_err(|error| error.to_string())?;
        for (offset, relocation) in section.relocations() {
            let (RelocationFlags::Elf { r_type }, RelocationTarget::Symbol(symbol)) =
                (relocation.flags(), relocation.target())
            else {
                return Err("an object file has a relocation of an unsupported kind".to_owned());
            };
            let to = Relocation {
                kind: r_type,
                at: at + offset as usize,
                symbol: plan.address(&file, symbol, pages.start)?,
                addend: relocation.addend(),
                slot: plan.slots.get(&symbol).map(|slot| pages.start + plan.table + 8 * slot),
                jump: plan.slots.get(&symbol).map(|slot| pages.start + plan.jumps + JUMP * slot),
            };
            to.resolve(&pages)?;
        }
    }
    let mut from = 0;
    for (end, protection) in plan.ends.iter().zip(PROTECTIONS) {
        pages.protect(from, *end, protection)?;
        from = *end;
    }
    synchronize(pages.start, plan.ends[0]);
    let kernel = file.symbols().find(|symbol| symbol.name() == Ok(KERNEL) && symbol.is_definition());
    let kernel = kernel.ok_or("the object file has no kernel")?.index();
    Ok(Code { address: plan.address(&file, kernel, pages.start)?, _pages: pages })
}

/// The layout of a mapping: the offset of each section.
struct MappingLayout {
    offsets: HashMap<SectionIndex, usize>,
    /// The index of each symbol's entry in the table of addresses.
    slots: HashMap<SymbolIndex, usize>,
    table: usize,
    jumps: usize,
    /// The offsets at which code, constants and variables end.
    ends: [usize; 3],
    bytes: usize,
}

impl MappingLayout {
    fn of(file: &ElfFile64<'_, object::Endianness>) -> Result<Self, String> {
        const PAGE: usize = 1 << 16;
        let mut slots = HashMap::new();
        let mut groups: [Vec<(SectionIndex, usize, usize)>; 3] = Default::default();
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            let has = |flag: u32| sh_flags & u64::from(flag) != 0;
            // unwind tables are not needed: nothing unwinds through kernels
            if !has(elf::SHF_ALLOC)
                || section.size() == 0
                || section.name().is_ok_and(|name| name.starts_with(".eh_frame"))
            {
                continue;
            }
            let group = if has(elf::SHF_EXECINSTR) {
                0
            } else if has(elf::SHF_WRITE) {
                2
            } else {
                1
            };
            groups[group].push((section.index(), section.size() as usize, section.align().max(1) as usize));
            for (_, relocation) in section.relocations() {
                if let RelocationTarget::Symbol(symbol) = relocation.target() {
                    let next = slots.len();
                    slots.entry(symbol).or_insert(next);
                }
            }
        }
        let (mut offsets, mut at, mut ends) = (HashMap::new(), 0_usize, [0; 3]);
        let (mut table, mut jumps) = (0, 0);
        for (group, sections) in groups.iter().enumerate() {
            for (index, bytes, align) in sections {
                at = at.next_multiple_of(*align);
                offsets.insert(*index, at);
                at = at.checked_add(*bytes).filter(|end| *end < 1 << 30).ok_or("an object file is too large")?;
            }
            at = at.next_multiple_of(JUMP);
            match group {
                0 => (jumps, at) = (at, at + JUMP * slots.len()),
                1 => (table, at) = (at, at + 8 * slots.len()),
                _ => {}
            }
            at = at.next_multiple_of(PAGE);
            ends[group] = at;
        }
        Ok(MappingLayout { offsets, slots, table, jumps, ends, bytes: at })
    }

    /// Returns the address of a symbol if the mapping begins at `start`.
    fn address(
        &self,
        file: &ElfFile64<'_, object::Endianness>,
        symbol: SymbolIndex,
        start: usize,
    ) -> Result<usize, String> {
        let symbol = file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
        if let Some(section) = symbol.section_index() {
            let offset = self.offsets.get(&section).ok_or("an object file refers to a section that is not loaded")?;
            return Ok(start + offset + symbol.address() as usize);
        }
        let name = symbol.name().map_err(|error| error.to_string())?;
        FUNCTIONS
            .get(name)
            .copied()
            .or_else(|| of_process(name))
            .ok_or_else(|| format!("generated code calls the unknown function `{name}`"))
    }
}

/// Returns the address of a function of this process, such as `memcpy`.
fn of_process(name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is NUL-terminated and outlives the call; the address is not used here.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found as usize)
}

/// A relocation of an object file.
struct Relocation {
    kind: u32,
    /// The offset of the relocated field in the mapping.
    at: usize,
    /// The address of the symbol, before the addend.
    symbol: usize,
    addend: i64,
    /// The symbol's entry in the table of addresses, and its jump stub.
    slot: Option<usize>,
    jump: Option<usize>,
}

impl Relocation {
    #[cfg(target_arch = "x86_64")]
    fn resolve(&self, pages: &Pages) -> Result<(), String> {
        let from = (pages.start + self.at) as i64;
        let (value, bytes) = match self.kind {
            elf::R_X86_64_NONE => return Ok(()),
            elf::R_X86_64_64 => (self.symbol as i64 + self.addend, 8),
            elf::R_X86_64_PC64 => (self.symbol as i64 + self.addend - from, 8),
            elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
                let near = self.symbol as i64 + self.addend - from;
                let jump = self.jump.ok_or(BROKEN)? as i64 + self.addend - from;
                (if i32::try_from(near).is_ok() { near } else { jump }, 4)
            }
            elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
                (self.slot.ok_or(BROKEN)? as i64 + self.addend - from, 4)
            }
            other => return Err(format!("a relocation of type {other} is not supported")),
        };
        if bytes == 4 && i32::try_from(value).is_err() {
            return Err(BROKEN.to_owned());
        }
        pages.write(self.at, &value.to_le_bytes()[..bytes])
    }

    #[cfg(target_arch = "aarch64")]
    fn resolve(&self, pages: &Pages) -> Result<(), String> {
        let from = (pages.start + self.at) as i64;
        let to = self.symbol as i64 + self.addend;
        let page = |address: i64| address & !0xfff;
        let slot = || self.slot.map(|slot| slot as i64).ok_or(BROKEN);
        let scaled = |address: i64, shift: u32| (address as u32 & 0xfff) >> shift << 10;
        let upper = |distance: i64| -> Result<u32, String> {
            let pages = i32::try_from(distance >> 12).ok().filter(|pages| (-(1 << 20)..1 << 20).contains(pages));
            let pages = pages.ok_or(BROKEN)? as u32;
            Ok((pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5)
        };
        let bits = match self.kind {
            elf::R_AARCH64_NONE => return Ok(()),
            elf::R_AARCH64_ABS64 => return pages.write(self.at, &to.to_le_bytes()),
            elf::R_AARCH64_PREL64 => return pages.write(self.at, &(to - from).to_le_bytes()),
            elf::R_AARCH64_PREL32 => {
                let near = i32::try_from(to - from).map_err(|_| BROKEN)?;
                return pages.write(self.at, &near.to_le_bytes());
            }
            elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => {
                let near = |distance: i64| (-(1 << 27)..1 << 27).contains(&distance).then_some(distance);
                let jump = self.jump.ok_or(BROKEN)? as i64;
                let distance = near(to - from).or_else(|| near(jump - from)).ok_or(BROKEN)?;
                (distance >> 2) as u32 & 0x3ff_ffff
            }
            elf::R_AARCH64_ADR_PREL_PG_HI21 => upper(page(to) - page(from))?,
            elf::R_AARCH64_ADR_GOT_PAGE => upper(page(slot()?) - page(from))?,
            elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => scaled(to, 0),
            elf::R_AARCH64_LDST16_ABS_LO12_NC => scaled(to, 1),
            elf::R_AARCH64_LDST32_ABS_LO12_NC => scaled(to, 2),
            elf::R_AARCH64_LDST64_ABS_LO12_NC => scaled(to, 3),
            elf::R_AARCH64_LDST128_ABS_LO12_NC => scaled(to, 4),
            elf::R_AARCH64_LD64_GOT_LO12_NC => scaled(slot()?, 3),
            other => return Err(format!("a relocation of type {other} is not supported")),
        };
        pages.write(self.at, &(pages.word(self.at)? | bits).to_le_bytes())
    }
}

/// Encodes a jump to the address in a table entry. Both are given by their own addresses.
#[cfg(target_arch = "x86_64")]
fn jump_through(jump: usize, entry: usize) -> [u8; JUMP] {
    // jmp qword ptr [rip + distance]; the rest traps
    let mut code = [0xcc; JUMP];
    code[..2].copy_from_slice(&[0xff, 0x25]);
    // a mapping has less than 2 GiB
    code[2..6].copy_from_slice(&((entry as i64 - jump as i64 - 6) as i32).to_le_bytes());
    code
}

/// As for x86-64: `adrp x16, entry; ldr x16, [x16, entry]; br x16; brk`.
#[cfg(target_arch = "aarch64")]
fn jump_through(jump: usize, entry: usize) -> [u8; JUMP] {
    let pages = ((entry >> 12) as i64 - (jump >> 12) as i64) as u32;
    let adrp = 0x9000_0010 | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5;
    let ldr = 0xf940_0210 | ((entry as u32 & 0xfff) >> 3) << 10;
    let mut code = [0; JUMP];
    for (at, word) in [adrp, ldr, 0xd61f_0200, 0xd420_0000].into_iter().enumerate() {
        code[4 * at..][..4].copy_from_slice(&u32::to_le_bytes(word));
    }
    code
}

/// Makes code that was written as data visible to instruction fetch, which x86-64 does by itself.
#[cfg(target_arch = "x86_64")]
fn synchronize(_: usize, _: usize) {}

/// As for x86-64, with the smallest cache line that a CPU has.
#[cfg(target_arch = "aarch64")]
fn synchronize(start: usize, bytes: usize) {
    const LINE: usize = 16;
    for line in (start..start + bytes).step_by(LINE) {
        // SAFETY: the address is inside a mapping; the instructions change no register and no memory.
        unsafe {
            std::arch::asm!("dc cvau, {0}", "dsb ish", "ic ivau, {0}", in(reg) line, options(nostack, preserves_flags))
        };
    }
    // SAFETY: barriers change no register and no memory.
    unsafe { std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}
