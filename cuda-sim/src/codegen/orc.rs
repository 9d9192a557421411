//! Object files to addresses: one process-wide LLJIT.
//!
//! # Safety
//!
//! The ORC functions are used as their C headers say: handles that a call consumes are not used again, errors are
//! turned into messages (which consumes them), and the JIT lives in a static.

use super::object::Mode;
use super::{kept, math};
use cuda_llvm::llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use cuda_llvm::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use cuda_llvm::llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcLLJITAddObjectFileWithRT, LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup,
    LLVMOrcLLJITMangleAndIntern, LLVMOrcLLJITRef,
};
use cuda_llvm::llvm_sys::orc2::{
    LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMOrcAbsoluteSymbols, LLVMOrcCSymbolMapPair,
    LLVMOrcJITDylibCreateResourceTracker, LLVMOrcJITDylibDefine, LLVMOrcReleaseResourceTracker,
    LLVMOrcResourceTrackerRef, LLVMOrcResourceTrackerRemove,
};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering};

/// Machine code of one module, which goes when this does.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) address: usize,
    tracker: LLVMOrcResourceTrackerRef,
}

// SAFETY: the tracker is touched by `drop` alone, under the lock of the JIT.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        let Some(jit) = JIT.get() else { return };
        let _exclusive = jit.lock();
        // SAFETY: the tracker is live, and nothing runs or finds the code any more: its owner goes.
        if let Err(why) = check(unsafe { LLVMOrcResourceTrackerRemove(self.tracker) }) {
            tracing::warn!("machine code could not be removed: {why}");
        }
        // SAFETY: the one reference that `add` was given, not used again.
        unsafe { LLVMOrcReleaseResourceTracker(self.tracker) };
    }
}

struct Jit(LLVMOrcLLJITRef);

// SAFETY: LLJIT may be used from any thread; the mutex around it makes its use exclusive as well.
unsafe impl Send for Jit {}

static JIT: OnceCell<Mutex<Jit>> = OnceCell::new();

/// Turns an LLVM error into its text.
fn check(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: `error` is an error that was not consumed yet; this consumes it and gives a string that is ours.
    let message = unsafe { LLVMGetErrorMessage(error) };
    // SAFETY: LLVM gives a NUL-terminated string that lives until it is disposed of.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: `message` came from LLVMGetErrorMessage and is not used afterwards.
    unsafe { LLVMDisposeErrorMessage(message) };
    Err(text)
}

impl Jit {
    /// An LLJIT with the helpers defined in its main library.
    fn new() -> Result<Jit, String> {
        let mut jit = std::ptr::null_mut();
        // SAFETY: a null builder asks for the defaults, for this process's target, which is initialised.
        check(unsafe { LLVMOrcCreateLLJIT(&mut jit, std::ptr::null_mut()) })?;
        let mut pairs = Vec::new();
        for (name, address) in math::symbols() {
            let name = CString::new(name).map_err(|e| e.to_string())?;
            // SAFETY: `jit` is live; the string is copied. The reference count goes to the pair below.
            let symbol = unsafe { LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()) };
            // Flags 1 and 4 are "exported" and "callable".
            let flags = LLVMJITSymbolFlags { GenericFlags: 5, TargetFlags: 0 };
            let evaluated = LLVMJITEvaluatedSymbol { Address: address as u64, Flags: flags };
            pairs.push(LLVMOrcCSymbolMapPair { Name: symbol, Sym: evaluated });
        }
        // SAFETY: the pairs are copied, and the references of their names are taken over.
        let unit = unsafe { LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len()) };
        // SAFETY: `jit` is a live LLJIT.
        let library = unsafe { LLVMOrcLLJITGetMainJITDylib(jit) };
        // SAFETY: library and unit are live; the library takes the unit over.
        check(unsafe { LLVMOrcJITDylibDefine(library, unit) })?;
        Ok(Jit(jit))
    }

    /// Adds an object file's bytes, and gives what they can be removed by.
    fn add(&mut self, object: &[u8]) -> Result<LLVMOrcResourceTrackerRef, String> {
        let name = c"kernel".as_ptr();
        // SAFETY: the range is valid for its length and is copied.
        let buffer = unsafe { LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), name) };
        // SAFETY: `self.0` is a live LLJIT.
        let library = unsafe { LLVMOrcLLJITGetMainJITDylib(self.0) };
        // SAFETY: the library is live.
        let tracker = unsafe { LLVMOrcJITDylibCreateResourceTracker(library) };
        // SAFETY: JIT and tracker are live; the buffer is taken over.
        check(unsafe { LLVMOrcLLJITAddObjectFileWithRT(self.0, tracker, buffer) })?;
        Ok(tracker)
    }

    fn lookup(&self, name: &str) -> Result<usize, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        let mut address = 0;
        // SAFETY: `self.0` is live, `address` is a live local, and the name is NUL-terminated.
        check(unsafe { LLVMOrcLLJITLookup(self.0, &mut address, name.as_ptr()) })?;
        Ok(address as usize)
    }
}

/// All code shares one library, so symbols carry a number.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Links one module, compiled now or in another process.
pub(super) fn link(ir: &str, mode: Mode) -> Result<Code, String> {
    let jit = JIT.get_or_try_init(|| {
        cuda_llvm::initialize().map_err(|error| error.to_string())?;
        Jit::new().map(Mutex::new)
    })?;
    // Compiling needs no lock, linking does.
    let (object, symbol) = kept::object(ir, mode, COUNT.fetch_add(1, Ordering::Relaxed))?;
    let mut jit = jit.lock();
    let tracker = jit.add(&object)?;
    Ok(Code { address: jit.lookup(&symbol)?, tracker })
}
