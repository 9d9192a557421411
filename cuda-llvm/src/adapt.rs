//! Shims for functions that changed after LLVM 22, the release that the bindings describe.
//!
//! Invariant: a number that the bindings do not declare never reaches them, since it would be an invalid value of its enum.
//!
//! # Safety
//!
//! Each shim has the type of the function of LLVM that it replaces, and passes its arguments on to that function.

use std::ffi::{CStr, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::llvm_sys::prelude::{LLVMAttributeRef, LLVMContextRef, LLVMValueRef};

/// The type of a getter that returns an enumerator for a value.
type Getter = unsafe extern "C" fn(LLVMValueRef) -> c_uint;

/// The shim to call in place of LLVM's `function` of this name, or `function` itself if it needs none.
pub(crate) fn shim(name: &CStr, function: *mut c_void, major: u32) -> *mut c_void {
    let (original, shim): (_, Getter) = match name.to_bytes() {
        b"LLVMGetInstructionOpcode" if major > 22 => (&OPCODE, opcode),
        b"LLVMGetValueKind" if major > 22 => (&VALUE_KIND, value_kind),
        _ => return function,
    };
    original.store(function, Ordering::Relaxed);
    shim as *mut c_void
}

/// The function that creates the attribute by which LLVM 23 replaced `denormal-fp-math`. The bindings do not declare it.
pub(crate) const CREATE_DENORMAL_FP_ENV: &CStr = c"LLVMCreateDenormalFPEnvAttribute";

/// The type of that function. It takes the modes of results and of operands, first for all types but `f32`, then for `f32`.
type CreateDenormalFpEnv = unsafe extern "C" fn(LLVMContextRef, c_uint, c_uint, c_uint, c_uint) -> LLVMAttributeRef;

static DENORMAL_FP_ENV: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Stores the address of LLVM's [`CREATE_DENORMAL_FP_ENV`].
///
/// # Safety
///
/// `function` is that function, of a library that stays open.
pub(crate) unsafe fn set_create_denormal_fp_env(function: *mut c_void) {
    DENORMAL_FP_ENV.store(function, Ordering::Relaxed);
}

/// The attribute of LLVM 23 and newer that flushes subnormal `f32` to zero; `None` with LLVM 22.
///
/// # Safety
///
/// The context is live.
pub(crate) unsafe fn flush_to_zero(context: LLVMContextRef) -> Option<LLVMAttributeRef> {
    /// `LLVMDenormalModeKindIEEE`
    const IEEE: c_uint = 0;
    /// `LLVMDenormalModeKindPreserveSign`
    const PRESERVE_SIGN: c_uint = 1;
    let function = DENORMAL_FP_ENV.load(Ordering::Relaxed);
    if function.is_null() {
        return None;
    }
    // SAFETY: `set_create_denormal_fp_env` has stored LLVM's function, which has this type since LLVM 23.
    let create = unsafe { std::mem::transmute::<*mut c_void, CreateDenormalFpEnv>(function) };
    // SAFETY: the caller promises that the context is live; the modes are two of LLVM's.
    Some(unsafe { create(context, IEEE, IEEE, PRESERVE_SIGN, PRESERVE_SIGN) })
}

static OPCODE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static VALUE_KIND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Calls the function that a shim replaces.
///
/// # Safety
///
/// LLVM's function accepts the value, and the caller is the shim that [`shim`] returned for `original`.
unsafe fn call_original(original: &AtomicPtr<c_void>, value: LLVMValueRef) -> c_uint {
    // SAFETY: `shim` stored LLVM's function here before it returned the shim that calls this; the function has this type.
    let function = unsafe { std::mem::transmute::<*mut c_void, Getter>(original.load(Ordering::Relaxed)) };
    // SAFETY: the caller promises that LLVM's function accepts the value.
    unsafe { function(value) }
}

/// The shim of `LLVMGetInstructionOpcode`: LLVM 23 has an opcode for each of the two branches.
unsafe extern "C" fn opcode(value: LLVMValueRef) -> c_uint {
    // SAFETY: the caller of LLVM's function passes an instruction, and `shim` has stored the function.
    llvm22_opcode(unsafe { call_original(&OPCODE, value) })
}

/// Maps an opcode to LLVM 22's.
fn llvm22_opcode(opcode: c_uint) -> c_uint {
    /// `LLVMUncondBr`, `LLVMCondBr`
    const BRANCHES: [c_uint; 2] = [70, 71];
    /// `LLVMBr`
    const BRANCH: c_uint = 2;
    /// `LLVMUserOp1`, which no module contains: it stands for an unknown opcode.
    const UNKNOWN: c_uint = 47;
    match opcode {
        branch if BRANCHES.contains(&branch) => BRANCH,
        1..=5 | 7..=69 => opcode,
        _ => UNKNOWN,
    }
}

/// The shim of `LLVMGetValueKind`: LLVM 23 inserted a kind, which shifts those after it.
unsafe extern "C" fn value_kind(value: LLVMValueRef) -> c_uint {
    // SAFETY: the caller of LLVM's function passes a value, and `shim` has stored the function.
    llvm22_value_kind(unsafe { call_original(&VALUE_KIND, value) })
}

/// Maps a kind of value to LLVM 22's. The new kind, a constant of bytes, which the stack never creates, becomes an integer.
fn llvm22_value_kind(kind: c_uint) -> c_uint {
    /// `LLVMConstantByteValueKind`
    const BYTE: c_uint = 19;
    /// `LLVMUndefValueValueKind`
    const UNKNOWN: c_uint = 14;
    /// The last of LLVM 22's, `LLVMConstantPtrAuthValueKind`.
    const LAST: c_uint = 27;
    match kind {
        0..BYTE => kind,
        BYTE..=LAST => kind - 1,
        kind if kind == LAST + 1 => LAST,
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm_sys::{LLVMOpcode, LLVMValueKind};

    #[test]
    fn both_branches_of_llvm_23_map_to_the_one_of_llvm_22() {
        let branch = LLVMOpcode::LLVMBr as c_uint;
        assert_eq!([70, 71].map(llvm22_opcode), [branch; 2]);
        assert_eq!(llvm22_opcode(LLVMOpcode::LLVMPtrToAddr as c_uint), LLVMOpcode::LLVMPtrToAddr as c_uint);
        assert_eq!([0, 6, 72, 500].map(llvm22_opcode), [LLVMOpcode::LLVMUserOp1 as c_uint; 4]);
    }

    #[test]
    fn the_kinds_after_byte_constants_are_shifted_by_one() {
        let (integer, float) = (LLVMValueKind::LLVMConstantIntValueKind, LLVMValueKind::LLVMConstantFPValueKind);
        assert_eq!([18, 19, 20].map(llvm22_value_kind), [integer as c_uint, integer as c_uint, float as c_uint]);
        assert_eq!(llvm22_value_kind(25), LLVMValueKind::LLVMInstructionValueKind as c_uint);
        assert_eq!(llvm22_value_kind(28), LLVMValueKind::LLVMConstantPtrAuthValueKind as c_uint);
        assert_eq!(llvm22_value_kind(29), LLVMValueKind::LLVMUndefValueValueKind as c_uint);
    }
}
